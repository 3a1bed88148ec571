/** The requests that wait for their hold: none waits for long, and one timer looks after all of them. */
import { Roster, type RosterEntry } from "../api/roster.js";
import { GatewayError } from "../errors.js";
import type { HoldOperation, LedgerResult } from "./operation.js";
import type { LedgerWriter, Waiting } from "./writer.js";

/** How long a request waits for its hold: so many looks, and less than one before the first. */
const LOOKS_MAX = 10;
const LOOK_MS = 1_000;

export class HoldWaits {
  readonly #writer: LedgerWriter;
  readonly #onLateGrant: (requestId: string) => void;
  readonly #waits = new Roster<HoldWait>();
  #timer: NodeJS.Timeout | undefined;

  /** `onLateGrant` is told of a grant whose request has given up, so that its money is freed again. */
  constructor(writer: LedgerWriter, onLateGrant: (requestId: string) => void) {
    this.#writer = writer;
    this.#onLateGrant = onLateGrant;
  }

  /** As the writer's, but rejects with LEDGER_UNAVAILABLE where it takes long. */
  submit(operation: HoldOperation): Promise<LedgerResult> {
    return new Promise((resolve, reject) => {
      const wait = new HoldWait(operation.requestId, resolve, reject, this.#end);
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
      if (wait.looks > LOOKS_MAX) wait.refused(new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE"));
    }
  };

  readonly #end = (wait: HoldWait, isGranted: boolean): void => {
    const gaveUp = wait.rosterIndex === undefined;
    if (!gaveUp) this.#waits.remove(wait);
    else if (isGranted) this.#onLateGrant(wait.requestId);
  };
}

class HoldWait implements Waiting, RosterEntry {
  rosterIndex?: number | undefined = undefined;
  looks = 0;

  constructor(
    readonly requestId: string,
    private readonly resolve: (result: LedgerResult) => void,
    private readonly reject: (error: GatewayError) => void,
    private readonly end: (wait: HoldWait, isGranted: boolean) => void,
  ) {}

  /** Resolving what was rejected before changes nothing. */
  committed(result: LedgerResult): void {
    this.end(this, result.kind === "held");
    this.resolve(result);
  }

  refused(error: GatewayError): void {
    this.end(this, false);
    this.reject(error);
  }
}
