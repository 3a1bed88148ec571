/** A caller that the dispatcher let in before its message was read. */
import type { Admission } from "../../api/channel.js";
import type { Caller } from "../../keys/caller.js";
import type { LimitDecision } from "../../limits/limit-decision.js";

/** Beyond it the look-up is as cheap as a message that takes so long. */
const HOLDS_MS = 1_000;
/** What was asked of other nodes longer ago is asked again: a message that takes so long may outlive its key. */
const DECISION_MS = 10;

export class Admitted implements Admission {
  readonly #sinceMs = performance.now();

  constructor(
    readonly caller: Caller,
    /** Where it calls from, as an IP literal; empty where nobody knows. */
    readonly address: string,
    /** How many changes of keys and accounts had been heard of. */
    private readonly changeCount: number,
    /** Its request's, where what other nodes know was asked for while the message comes. */
    private decision?: LimitDecision | undefined,
  ) {}

  get holder(): string {
    return this.caller.keyId;
  }

  /** True where nothing changed since: no key, no account, and none that ends at some time may have ended. */
  holds(changeCount: number): boolean {
    if (changeCount !== this.changeCount || this.caller.settings.expireTime !== undefined) return false;
    return performance.now() - this.#sinceMs < HOLDS_MS;
  }

  /** What was asked of other nodes, for one request of this very caller, where it is as good as asked now. */
  takeDecision(caller: Caller, changeCount: number): LimitDecision | undefined {
    const { decision } = this;
    this.decision = undefined;
    const isNow = changeCount === this.changeCount && performance.now() - this.#sinceMs < DECISION_MS;
    return isNow && caller === this.caller ? decision : undefined;
  }
}
