/** Reading an answer on after its client left, so that its usage is known: when it is worth it, and how many may be. */
import type { Target } from "./model.js";

const RUNNING_MAX = 64;

/** Called where a client left an answer that must be read on, and when that ends; with how many are read on now. */
export type ReadOnObserver = (target: Target, step: "begun" | "refused" | "ended", running: number) => void;

/** The answers that are read on, of all upstreams. */
export class ReadOn {
  #running = 0;

  constructor(private readonly observe: ReadOnObserver) {}

  /** Takes a place; false where leaving ends the upstream's bill too, or where all places are taken. */
  begin(target: Target, isStream: boolean): boolean {
    const { abortStopsBilling, wholeAnswersBillOn } = target.served.family;
    if (abortStopsBilling && (isStream || wholeAnswersBillOn !== true)) return false;
    const isTaken = this.#running < RUNNING_MAX;
    if (isTaken) this.#running += 1;
    this.observe(target, isTaken ? "begun" : "refused", this.#running);
    return isTaken;
  }

  /** Gives the place back. */
  end(target: Target): void {
    this.#running -= 1;
    this.observe(target, "ended", this.#running);
  }
}
