/** UTC days, by which money and usage are counted. */

export const DAY_MS = 86_400_000;

/** The day that was asked for last: nearly every question is about today. */
let lastDay = { number: Number.NaN, text: "" };

/** The UTC day of a moment, such as 2026-11-21. */
export function dayOf(timeMs: number): string {
  const number = dayNumber(timeMs);
  if (number !== lastDay.number) lastDay = { number, text: new Date(timeMs).toISOString().slice(0, 10) };
  return lastDay.text;
}

/** The number of the UTC day of a moment. */
export function dayNumber(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** 1970-01-05, the first Monday, is day 4. */
const MONDAY = 4;
const WEEK_DAYS = 7;

/** The number of the Monday of a day's week. */
export function mondayOf(day: number): number {
  return day - ((((day - MONDAY) % WEEK_DAYS) + WEEK_DAYS) % WEEK_DAYS);
}
