/** How long one call lives: until its work is done, its caller goes, its deadline passes, or the process stops. */
import { Cancellation, type CancelSignal } from "../../base/cancellation.js";
import type { CallOptions } from "../../api/channel.js";
import type { RosterEntry } from "../../base/roster.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";

/** What a timer can wait at most; a longer deadline is none. */
export const TIMER_MS_MAX = 2_147_483_647;

/** A person's session that a call came with. */
export interface CallSession {
  /** Undefined while it is looked up. */
  readonly userId: string | undefined;
  /** Rejects where the session may not begin the same call now. */
  check(): Promise<void>;
}

export class Lifetime implements RosterEntry {
  rosterIndex: number | undefined = undefined;
  /** True where the call has no end of its own, so that nobody waits for it. */
  isEndless = false;
  /** Whose call it is, once that is known. */
  caller: Caller | undefined = undefined;
  /** Undefined where it came with a key. */
  session: CallSession | undefined = undefined;
  readonly #cancellation = new Cancellation();
  /** When its deadline passes, on the monotonic clock; undefined where it has none. */
  readonly endMs: number | undefined;
  readonly #from: CancelSignal;
  readonly #onAbort: () => void;
  #timer: NodeJS.Timeout | undefined;
  #onEnd: ((error: GatewayError) => void) | undefined;

  /** `from` is the caller's signal; its reason stands where it is a GatewayError, else the caller went away. */
  constructor(from: CancelSignal, timeoutMs: number | undefined) {
    this.#from = from;
    this.#onAbort = () => this.end(goneError(from));
    if (from.aborted) this.#onAbort();
    else from.addEventListener("abort", this.#onAbort, { once: true });
    this.endMs = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    if (timeoutMs === undefined || timeoutMs > TIMER_MS_MAX) return;
    if (timeoutMs <= 0) this.end(deadlineError());
    else this.#timer = setTimeout(() => this.end(deadlineError()), timeoutMs);
  }

  get signal(): CancelSignal {
    return this.#cancellation;
  }

  /**
   * Resolves as the work does; rejects as it does, or at once when the lifetime ends before it. `onDone` runs when the
   * work is over, which may be later.
   */
  race<Value>(work: Promise<Value>, onDone: (lifetime: Lifetime) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.signal.aborted) reject(this.signal.reason);
      this.#onEnd = reject;
      work.then(
        (value) => {
          this.close();
          onDone(this);
          resolve(value);
        },
        // The work's own failure after the end of the lifetime changes nothing for the caller.
        (error: unknown) => {
          this.close();
          onDone(this);
          reject(error);
        },
      );
    });
  }

  /** Ends it before its work is done. */
  end(error: GatewayError): void {
    if (this.signal.aborted) return;
    this.#cancellation.abort(error);
    this.#onEnd?.(error);
    this.close();
  }

  /** The work is done: nothing ends it any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#from.removeEventListener("abort", this.#onAbort);
  }
}

/** The refusal of a call whose deadline passed. */
export function deadlineError(): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase: "deadline" });
}

/** What a call is refused with before it begins, where its caller left or its deadline passed. */
export function refusedAtOnce(options: Pick<CallOptions, "signal" | "timeoutMs">): GatewayError | undefined {
  if (options.signal.aborted) return goneError(options.signal);
  return options.timeoutMs !== undefined && options.timeoutMs <= 0 ? deadlineError() : undefined;
}

/** What a call ends with whose caller aborted it: the caller's own reason where it gave a refusal. */
export function goneError(signal: CancelSignal): GatewayError {
  const reason: unknown = signal.reason;
  return reason instanceof GatewayError ? reason : new GatewayError("ERROR_REASON_CANCELLED");
}
