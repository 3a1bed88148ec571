/** Readers that are behind: one that takes nothing for too long is cut, since what waits for it holds memory. */
import { listeningClock, type Waiting } from "../../base/event-loop/listening-clock.js";

/** As over HTTP. */
const BLOCKED_MS_MAX = 30_000;

export interface BlockedReader {
  /** It took nothing for as long as it may. */
  cut(): void;
}

export class BlockedReaders {
  /** Since when each is behind, the oldest first. */
  readonly #sinceMs = new Map<BlockedReader, number>();
  readonly #msMax: number;
  #timer: Waiting | undefined;

  constructor(msMax = BLOCKED_MS_MAX) {
    this.#msMax = msMax;
  }

  /** How many are behind. */
  get size(): number {
    return this.#sinceMs.size;
  }

  /** It takes no more at the moment. */
  behind(reader: BlockedReader): void {
    if (this.#sinceMs.has(reader)) return;
    this.#sinceMs.set(reader, listeningClock.nowMs());
    if (this.#timer === undefined) this.#lookIn(this.#msMax);
  }

  /** It took something, or is gone. */
  moved(reader: BlockedReader): void {
    this.#sinceMs.delete(reader);
  }

  #lookIn(waitMs: number): void {
    this.#timer = listeningClock.after(waitMs, this.#sweep).unref();
  }

  readonly #sweep = (): void => {
    this.#timer = undefined;
    const dueMs = listeningClock.nowMs() - this.#msMax;
    const due: BlockedReader[] = [];
    for (const [reader, sinceMs] of this.#sinceMs) {
      if (sinceMs > dueMs) {
        this.#lookIn(Math.ceil(sinceMs - dueMs));
        break;
      }
      due.push(reader);
    }
    for (const reader of due) this.#sinceMs.delete(reader);
    for (const reader of due) reader.cut();
  };
}
