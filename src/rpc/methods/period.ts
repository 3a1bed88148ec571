/** Days and periods as callers write them. */
import { DAY_MS, dayOf } from "../../base/day.js";
import type { StatementPeriod } from "../../store/store.js";
import { invalid } from "../../api/check.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** A day of the calendar: 2026-02-30 is none. */
export function checkDay(param: string, day: string): string {
  if (!isDay(day)) throw invalid(param, "must be a day such as 2026-11-21");
  return day;
}

/** From a day or time on, until and with a day, or before a time. */
export function periodOf({ from, to }: { readonly from: string; readonly to: string }): StatementPeriod {
  const fromMs = from === "" ? undefined : momentOf("from", from, 0);
  const toMs = to === "" ? undefined : momentOf("to", to, DAY_MS);
  // The day after the last one is the first that does not belong to the period.
  const latestMs = toMs !== undefined && isDay(to) ? toMs - 1 : toMs;
  if (fromMs !== undefined && latestMs !== undefined && fromMs > latestMs)
    throw invalid("from", "must not come after to");
  return { fromMs, toMs };
}

/** A time as it stands; of a day, its begin and so much more. */
function momentOf(param: string, text: string, moreMs: number): number {
  if (isDay(text)) return Date.parse(text) + moreMs;
  const timeMs = TIME.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw invalid(param, "must be a day such as 2026-11-21, or a time such as 2026-11-21T12:00:00Z");
}

function isDay(text: string): boolean {
  const timeMs = DAY.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(timeMs) && dayOf(timeMs) === text;
}
