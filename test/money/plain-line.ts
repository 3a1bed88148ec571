/** Credit lines as plainly as they can be said: what each account was granted last, and what it used of it. */
import { CreditPeriod } from "../../src/api/index.js";
import type { CreditLine } from "../../src/ledger/rows.js";
import { periodOf } from "./plain-periods.js";
import type { Sums } from "./running-rows.js";

interface Grant {
  readonly startDay: string;
  readonly amount: bigint;
  used: bigint;
}

/** What an account has. `available` is without what is held. */
interface Has {
  readonly posted: bigint;
  readonly available: bigint;
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

export class PlainLines {
  readonly #lines = new Map<string, CreditLine>();
  readonly #grants = new Map<string, Grant>();

  set(accountId: string, line: CreditLine | undefined): void {
    if (line === undefined) this.#lines.delete(accountId);
    else this.#lines.set(accountId, line);
  }

  /** What the account gets, or below zero what is taken from it. */
  renew(accountId: string, { posted, available }: Has, nowMs: number): bigint {
    const line = this.#lines.get(accountId);
    const last = this.#grants.get(accountId);
    if (line === undefined && last === undefined) return 0n;
    const amount = line?.amountNanos ?? 0n;
    const startDay = line === undefined ? "" : periodOf(line.period, nowMs).startDay;
    const begins = last === undefined || startDay > last.startDay;
    if (!begins && amount === last.amount) return 0n;
    const rest = last === undefined ? 0n : smaller(larger(last.amount - last.used, 0n), posted);
    const used = begins ? 0n : last.used;
    const wanted = larger(amount - used, 0n) - rest;
    const moved = larger(wanted, -available);
    this.#grants.set(accountId, { startDay: begins ? startDay : last.startDay, amount, used: used + wanted - moved });
    return moved;
  }

  /** The same, added to what the account was granted. `leased` is not available. */
  renewSums(accountId: string, sums: Sums, leased: bigint, nowMs: number): void {
    const posted = sums.granted - sums.spent;
    sums.granted += this.renew(accountId, { posted, available: posted - sums.held - leased }, nowMs);
  }

  /** A charge is taken from the line first. */
  charge(accountId: string, paid: bigint): void {
    const grant = this.#grants.get(accountId);
    if (grant !== undefined) grant.used += paid;
  }
}

const PERIODS = {
  day: CreditPeriod.CREDIT_PERIOD_DAY,
  week: CreditPeriod.CREDIT_PERIOD_WEEK,
  month: CreditPeriod.CREDIT_PERIOD_MONTH,
  quarter: CreditPeriod.CREDIT_PERIOD_QUARTER,
} as const satisfies Record<CreditLine["period"], CreditPeriod>;

/** The same line as a setting of its account. */
export function lineSetting(line: CreditLine | undefined) {
  return line && { amountNanos: line.amountNanos, period: PERIODS[line.period] };
}
