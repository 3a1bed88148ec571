/**
 * How often a caller may call one method of management. Whoever has few calls at once may have many a second, and each
 * change is a record of the audit log that is kept for good. A node counts by itself. Pure.
 */
import { GatewayError } from "../errors.js";
import { isOperator } from "./account-scope.js";
import type { Asker } from "./rooms.js";

/** Calls of one method. */
interface Pace {
  /** How many may come in one go. */
  readonly burst: number;
  /** How many more may come each second. */
  readonly perSecond: number;
}

type PacedKind = "calls" | "changes";

/** A page of the console asks for ten, and a script that sets up hundreds of keys waits for seconds. */
const OF_KEY: Readonly<Record<PacedKind, Pace>> = {
  calls: { burst: 600, perSecond: 40 },
  changes: { burst: 200, perSecond: 5 },
};
/** All of an account have four times as much together. */
const ACCOUNT_SHARES = 4;
/** Beyond so many that are remembered those are forgotten that may have all of their calls again. */
const REMEMBERED_MIN = 10_000;

/** What one asker has left of its calls. */
interface Left {
  readonly pace: Pace;
  calls: number;
  atMs: number;
}

export class Paces {
  readonly #left = new Map<string, Left>();
  #forgetAt = REMEMBERED_MIN;

  /** `nowMs` is monotonic. */
  constructor(private readonly nowMs: () => number) {}

  /** How many are remembered. */
  get size(): number {
    return this.#left.size;
  }

  /** Counts a call. Throws RATE_LIMITED where too many came. Operators have their own machine to care for. */
  take(method: string, kind: PacedKind, caller: Asker): void {
    if (isOperator(caller)) return;
    const pace = OF_KEY[kind];
    const burst = pace.burst * ACCOUNT_SHARES;
    const perSecond = pace.perSecond * ACCOUNT_SHARES;
    const key = `key ${caller.keyId}`;
    const account = `account ${caller.accountId || caller.keyId}`;
    const ofKey = this.#of(key, method, pace);
    const ofAccount = this.#of(account, method, { burst, perSecond });
    require(ofKey, kind, key);
    require(ofAccount, kind, account);
    ofKey.calls -= 1;
    ofAccount.calls -= 1;
  }

  #of(owner: string, method: string, pace: Pace): Left {
    const name = `${owner} ${method}`;
    const nowMs = this.nowMs();
    const known = this.#left.get(name);
    if (known !== undefined) {
      known.calls = callsAt(known, nowMs);
      known.atMs = nowMs;
      return known;
    }
    if (this.#left.size >= this.#forgetAt) this.#forget(nowMs);
    const made = { pace, calls: pace.burst, atMs: nowMs };
    this.#left.set(name, made);
    return made;
  }

  /** At most twice as many are remembered as called within the time in which a burst comes back. */
  #forget(nowMs: number): void {
    for (const [name, left] of this.#left) if (callsAt(left, nowMs) >= left.pace.burst) this.#left.delete(name);
    this.#forgetAt = Math.max(REMEMBERED_MIN, 2 * this.#left.size);
  }
}

function callsAt({ pace, calls, atMs }: Left, nowMs: number): number {
  return Math.min(pace.burst, calls + ((nowMs - atMs) * pace.perSecond) / 1_000);
}

function require({ pace, calls }: Left, kind: PacedKind, owner: string): void {
  if (calls >= 1) return;
  throw new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: `${kind} a minute`,
    owner,
    limit_value: String(pace.perSecond * 60),
    remaining: "0",
    reset_ms: String(Math.ceil(((1 - calls) * 1_000) / pace.perSecond)),
  });
}
