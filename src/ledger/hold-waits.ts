/** The requests that wait for their hold. Each wait is bounded, and one timer serves all of them. */
import { Roster, type RosterEntry } from "../base/roster.js";
import { GatewayError } from "../base/errors.js";
import type { LiveHold, LiveHolds } from "./live-holds.js";
import type { HoldOperation, LedgerResult } from "./operation.js";
import type { LedgerWriter, Waiting } from "./writer.js";

/** How long a request waits for its hold, in ticks of the timer; the first tick comes in less than one period. */
const LOOKS_MAX = 10;
const LOOK_MS = 1_000;

export class HoldWaits {
  readonly #writer: LedgerWriter;
  readonly #live: LiveHolds;
  readonly #onLateGrant: (requestId: string) => void;
  readonly #waits = new Roster<HoldWait>();
  #timer: NodeJS.Timeout | undefined;

  /** `onLateGrant` is called for a grant whose request has given up, so that its money is freed again. */
  constructor(writer: LedgerWriter, live: LiveHolds, onLateGrant: (requestId: string) => void) {
    this.#writer = writer;
    this.#live = live;
    this.#onLateGrant = onLateGrant;
  }

  /**
   * Submits to the writer, but rejects with LEDGER_UNAVAILABLE if that takes too long. The hold is live until it is
   * refused.
   */
  submit(operation: HoldOperation, hold: LiveHold): Promise<LedgerResult> {
    return new Promise((resolve, reject) => {
      const isOwn = this.#live.add(hold);
      const wait = new HoldWait(operation.requestId, isOwn, resolve, reject, this.#end);
      this.#waits.add(wait);
      // The timer outlives the request, so that not every request starts one.
      this.#timer ??= setInterval(this.#look, LOOK_MS).unref();
      this.#writer.enqueue(operation, wait);
    });
  }

  readonly #look = (): void => {
    if (this.#waits.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const wait of this.#waits) {
      wait.looks += 1;
      if (wait.looks > LOOKS_MAX) {
        this.#waits.remove(wait);
        wait.giveUp();
      }
    }
  };

  readonly #end = (wait: HoldWait, end: "granted" | "refused" | GatewayError): void => {
    const gaveUp = wait.rosterIndex === undefined;
    if (!gaveUp) this.#waits.remove(wait);
    else if (end === "granted") this.#onLateGrant(wait.requestId);
    if (end === "granted" || !wait.isOwn) return;
    this.#live.remove(wait.requestId);
    // An answer that was lost on its way may have been a grant. What was never sent was none.
    if (end !== "refused" && end.reason !== "ERROR_REASON_OVERLOADED") this.#live.doubt();
  };
}

class HoldWait implements Waiting, RosterEntry {
  rosterIndex?: number | undefined = undefined;
  looks = 0;

  constructor(
    readonly requestId: string,
    /** True if no earlier hold exists for the request. */
    readonly isOwn: boolean,
    private readonly resolve: (result: LedgerResult) => void,
    private readonly reject: (error: GatewayError) => void,
    private readonly end: (wait: HoldWait, end: "granted" | "refused" | GatewayError) => void,
  ) {}

  /** Resolving a promise that was rejected before changes nothing. */
  committed(result: LedgerResult): void {
    this.end(this, result.kind === "held" ? "granted" : "refused");
    this.resolve(result);
  }

  refused(error: GatewayError): void {
    this.end(this, error);
    this.reject(error);
  }

  /** The request no longer waits; the result may still arrive. */
  giveUp(): void {
    this.reject(new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE"));
  }
}
