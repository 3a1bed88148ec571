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
