/** A caller that the dispatcher let in before its message was read. */
import type { Admission } from "../api/channel.js";
import type { Caller } from "../keys/caller.js";

/** A body that takes longer is no reason to believe in a key that may have been revoked meanwhile. */
const HOLDS_MS = 1_000;

export class Admitted implements Admission {
  constructor(
    readonly caller: Caller,
    /** Where it calls from, as an IP literal; empty where nobody knows. */
    readonly address: string,
    private readonly atMs: number,
  ) {}

  get holder(): string {
    return this.caller.keyId;
  }

  /** True while the key need not be looked up again. A clock that was set back makes it old. */
  holds(nowMs: number): boolean {
    const ageMs = nowMs - this.atMs;
    return ageMs >= 0 && ageMs < HOLDS_MS;
  }
}
