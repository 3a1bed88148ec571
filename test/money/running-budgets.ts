/** What budgets count, with running sums: held, leased and spent, by owner, period and bucket. */
import type { HoldOperation, Shortage } from "../../src/ledger/operation.js";
import type { Period } from "../../src/ledger/rows.js";
import { makersOf } from "./key-line.js";
import { periodOf } from "./plain-periods.js";

export interface Limits {
  readonly day: bigint;
  readonly week: bigint;
  readonly month: bigint;
  readonly quarter: bigint;
  readonly total: bigint;
  readonly request: bigint;
}

/** Who asks, and when. */
export type Owner = Pick<HoldOperation, "accountId" | "keyId" | "budgets" | "nowMs">;

const PERIODS = ["day", "week", "month", "quarter", "total"] as const;
const days = new Map<number, string>();

/** Of a shortage the amounts are not compared where leases are asked for. */
export const NO_MONEY: Shortage = { kind: "balance_too_low", availableNanos: 0n, heldNanos: 0n, neededNanos: 0n };

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export function dayOf(timeMs: number): string {
  const number = Math.floor(timeMs / 86_400_000);
  const known = days.get(number) ?? new Date(timeMs).toISOString().slice(0, 10);
  days.set(number, known);
  return known;
}

/** What counts something: the names of its counters. */
interface Counted {
  readonly names: readonly string[];
}

export class RunningBudgets {
  readonly limits = new Map<string, Limits>();
  /** Held, leased and spent together. */
  readonly #used = new Map<string, bigint>();
  /** What of that is spent. */
  readonly #spent = new Map<string, bigint>();

  *limitsOf(hold: Owner) {
    for (const { period, limitNanos, makerId } of hold.budgets) {
      const used = this.#usedOf("key", makerId ?? hold.keyId, hold, period);
      yield { owner: "key" as const, makerId, period, limitNanos, ...used };
    }
    const limits = this.limits.get(hold.accountId);
    if (limits === undefined) return;
    const account = { owner: "account", makerId: undefined } as const;
    if (limits.request > 0n)
      yield { ...account, period: "request" as const, limitNanos: limits.request, used: 0n, spent: 0n, name: "" };
    for (const period of PERIODS)
      if (limits[period] > 0n)
        yield {
          ...account,
          period,
          limitNanos: limits[period],
          ...this.#usedOf("account", hold.accountId, hold, period),
        };
  }

  #name(owner: "key" | "account", id: string, hold: Owner, period: Period): string {
    return `${owner} ${id} ${period} ${periodOf(period, hold.nowMs).startDay}`;
  }

  namesOf(hold: Owner): string[] {
    const names = PERIODS.map((period) => this.#name("account", hold.accountId, hold, period));
    for (const id of [hold.keyId, ...makersOf(hold.keyId)])
      for (const period of PERIODS) names.push(this.#name("key", id, hold, period));
    return names;
  }

  #usedOf(owner: "key" | "account", id: string, hold: Owner, period: Period) {
    const name = this.#name(owner, id, hold, period);
    return { used: this.#used.get(name) ?? 0n, spent: this.#spent.get(name) ?? 0n, name };
  }

  use({ names }: Counted, nanos: bigint): void {
    for (const name of names) this.#used.set(name, (this.#used.get(name) ?? 0n) + nanos);
  }

  spend({ names }: Counted, nanos: bigint): void {
    for (const name of names) this.#spent.set(name, (this.#spent.get(name) ?? 0n) + nanos);
  }
}
