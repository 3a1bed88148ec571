/** Days, weeks, months and quarters, counted day by day. */
import type { Period } from "../../src/ledger/rows.js";

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/** The first day of the period that contains a time. A time that no period ends has none. */
export function periodOf(period: Period, timeMs: number): { readonly startDay: string } {
  const first = new Date(`${dayOf(timeMs)}T00:00:00Z`);
  const begins = (): boolean => {
    const day = first.getUTCDate();
    if (period === "week") return first.getUTCDay() === 1;
    if (period === "month") return day === 1;
    return period !== "quarter" || (day === 1 && [0, 3, 6, 9].includes(first.getUTCMonth()));
  };
  if (period === "total") return { startDay: "" };
  while (!begins()) first.setUTCDate(first.getUTCDate() - 1);
  return { startDay: dayOf(first.getTime()) };
}
