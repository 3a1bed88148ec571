/** A caller that the dispatcher let in before its message was read. */
import type { Admission } from "../api/channel.js";
import type { Caller } from "../keys/caller.js";

/** Beyond it the look-up is as cheap as a message that takes so long. */
const HOLDS_MS = 1_000;

export class Admitted implements Admission {
  readonly #sinceMs = performance.now();

  constructor(
    readonly caller: Caller,
    /** Where it calls from, as an IP literal; empty where nobody knows. */
    readonly address: string,
    /** How many changes of keys and accounts had been heard of. */
    private readonly changeCount: number,
  ) {}

  get holder(): string {
    return this.caller.keyId;
  }

  /** True where nothing changed since: no key, no account, and none that ends at some time may have ended. */
  holds(changeCount: number): boolean {
    if (changeCount !== this.changeCount || this.caller.settings.expireTime !== undefined) return false;
    return performance.now() - this.#sinceMs < HOLDS_MS;
  }
}
