/** Sums by day and by name, as charts draw them. Sums are whole numbers to the last digit. */
import { words } from "../copy/en.ts";
import { dayText } from "../format.ts";
import type { Series } from "./bars.tsx";

const DAY_MS = 86_400_000;
const SERIES_MAX = 6;

/** The last UTC days up to a moment, such as 2026-11-22, oldest first. */
export function utcDays(now: Date, days: number): readonly string[] {
  return Array.from({ length: days }, (_, index) => dayText(new Date(now.getTime() - (days - 1 - index) * DAY_MS)));
}

export function sumOf<Row>(rows: readonly Row[], valueOf: (row: Row) => bigint): bigint {
  return rows.reduce((sum, row) => sum + valueOf(row), 0n);
}

/** A series for each name, the largest first; those beyond what colours can tell apart are one. */
export function seriesOf<Row extends { readonly day: string }>(
  rows: readonly Row[],
  days: readonly string[],
  nameOf: (row: Row) => string,
  valueOf: (row: Row) => bigint,
): readonly Series[] {
  const totals = new Map<string, bigint>();
  for (const row of rows) totals.set(nameOf(row), (totals.get(nameOf(row)) ?? 0n) + valueOf(row));
  const names = [...totals].toSorted(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0)).map(([name]) => name);
  const kept = names.length > SERIES_MAX ? names.slice(0, SERIES_MAX - 1) : names;
  const placeOf = new Map(days.map((day, index) => [day, index]));
  const values = new Map<string, bigint[]>();
  for (const row of rows) {
    const name = kept.includes(nameOf(row)) ? nameOf(row) : words.chart.other;
    const place = placeOf.get(row.day);
    if (place === undefined) continue;
    const series = values.get(name) ?? days.map(() => 0n);
    series[place] = (series[place] ?? 0n) + valueOf(row);
    values.set(name, series);
  }
  return [...kept, words.chart.other].flatMap((name) => {
    const found = values.get(name);
    return found === undefined ? [] : [{ name, values: found }];
  });
}
