/**
 * How often a caller may call one method of management: each change is a record of the audit log that is kept for good.
 * A node counts by itself. Pure.
 */
import { Allowances, CALLS_PACE, type Pace, requireLeft } from "../../base/event-loop/pace.js";
import { isOperator } from "./account-scope.js";
import type { Asker } from "./concurrency-limiter.js";

type PacedKind = "calls" | "changes";

/** A script that sets up hundreds of keys waits for seconds. */
const OF_KEY: Readonly<Record<PacedKind, Pace>> = { calls: CALLS_PACE, changes: { burst: 200, perSecond: 5 } };
/** All of an account have four times as much together. */
const ACCOUNT_SHARES = 4;

export class RateLimiter {
  readonly #allowances: Allowances;

  /** `nowMs` is monotonic. */
  constructor(nowMs: () => number) {
    this.#allowances = new Allowances(nowMs);
  }

  /** How many are remembered. */
  get size(): number {
    return this.#allowances.size;
  }

  /** Counts a call. Throws RATE_LIMITED where too many came. Operators have their own machine to care for. */
  take(method: string, kind: PacedKind, caller: Asker): void {
    if (isOperator(caller)) return;
    const pace = OF_KEY[kind];
    const burst = pace.burst * ACCOUNT_SHARES;
    const perSecond = pace.perSecond * ACCOUNT_SHARES;
    const key = `key ${caller.keyId}`;
    const account = `account ${caller.accountId || caller.keyId}`;
    const ofKey = this.#allowances.of(`${key} ${method}`, pace);
    const ofAccount = this.#allowances.of(`${account} ${method}`, { burst, perSecond });
    requireLeft(ofKey, kind, key);
    requireLeft(ofAccount, kind, account);
    ofKey.left -= 1;
    ofAccount.left -= 1;
  }
}
