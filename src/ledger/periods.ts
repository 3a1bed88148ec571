/** The periods of budgets and credit lines: when they start and end, and which counters they add up. */
import { DAY_MS, dayNumber, dayOf, mondayOf } from "../base/day.js";
import type { Book, CounterSource } from "./book.js";
import type { HoldOperation } from "./operation.js";
import type { Account, BudgetOwner, BudgetRow, CountedPeriod, LinePeriod, Period } from "./rows.js";

const WEEK_DAYS = 7;
const QUARTER_MONTHS = 3;

/** The first day of the period that contains a time. */
export function startDayOf(period: LinePeriod, timeMs: number): string {
  return dayOf(startMsOf(period, timeMs));
}

/** When the period that contains a time ends and its budget starts again; undefined if it never does. */
export function resetTimeMs(period: Period, timeMs: number): number | undefined {
  if (period === "total") return undefined;
  const startMs = startMsOf(period, timeMs);
  if (period === "day") return startMs + DAY_MS;
  return period === "week"
    ? startMs + WEEK_DAYS * DAY_MS
    : monthsAfter(startMs, period === "month" ? 1 : QUARTER_MONTHS);
}

function startMsOf(period: LinePeriod, timeMs: number): number {
  const day = dayNumber(timeMs);
  if (period === "day") return day * DAY_MS;
  if (period === "week") return mondayOf(day) * DAY_MS;
  const date = new Date(timeMs);
  const month = date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), period === "month" ? month : month - (month % QUARTER_MONTHS));
}

function monthsAfter(startMs: number, months: number): number {
  const date = new Date(startMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

/** The counted period that a budget's period is the sum of. */
export function countedPeriod(period: Period): CountedPeriod {
  if (period === "week") return "day";
  return period === "quarter" ? "month" : period;
}

/** The buckets of the days of a week, or of the months of a quarter. */
function bucketsOf(period: "week" | "quarter", timeMs: number): string[] {
  const startMs = startMsOf(period, timeMs);
  if (period === "week") return Array.from({ length: WEEK_DAYS }, (_, day) => dayOf(startMs + day * DAY_MS));
  return Array.from({ length: QUARTER_MONTHS }, (_, month) => dayOf(monthsAfter(startMs, month)).slice(0, 7));
}

/**
 * The counters by which a hold of that time is judged: its own first, then those that budgets of a week or a quarter
 * add up with them. Without such budgets these are the hold's own. `source` loads what is not in the book.
 */
export function judgedCounters(
  book: Book,
  counters: readonly BudgetRow[],
  { keyId, budgets, nowMs }: Pick<HoldOperation, "keyId" | "budgets" | "nowMs">,
  account: Account,
  source?: CounterSource,
): readonly BudgetRow[] {
  let judged: Set<BudgetRow> | undefined;
  const add = (owner: BudgetOwner, ownerId: string, period: Period): void => {
    if (period !== "week" && period !== "quarter") return;
    judged ??= new Set(counters);
    for (const bucket of bucketsOf(period, nowMs))
      judged.add(book.budget(owner, ownerId, countedPeriod(period), bucket, source));
  };
  for (const { period, makerId } of budgets) add("key", makerId ?? keyId, period);
  for (const { period } of account.budgets) add("account", account.id, period);
  return judged === undefined ? counters : [...judged];
}
