/** Sums by time and by name, as charts draw them. Sums are whole numbers to the last digit. */
import type { UsageSum } from "../../gen/console/usage_service.js";
import { words } from "../copy/en.ts";
import type { Series } from "./bars.tsx";
import type { RequestSearch } from "../search.ts";
import { colourOf } from "./colours.ts";

/** So many names are asked for one by one; the server adds up the others. With those a chart has all its colours. */
export const NAMES_MAX = 5;
const OTHERS_COLOUR = "series-other";
/** What stands in the sums for those that were not asked for one by one. */
export const OTHERS = "other";

export function sumOf<Row>(rows: readonly Row[], valueOf: (row: Row) => bigint): bigint {
  return rows.reduce((sum, row) => sum + valueOf(row), 0n);
}

/** A value of a property for people: nobody may have named one. */
export function shownName(value: string): string {
  if (value === "") return words.chart.none;
  return value === OTHERS ? words.chart.other : value;
}

export interface SeriesOptions {
  readonly nameOf?: (value: string) => string;
  /** The filter of requests that leaves just those of one series. Absent: there is none. */
  readonly only?: ((value: string) => RequestSearch | undefined) | undefined;
}

/** Sums by time and by name as a series for each name, the largest first and the others last. */
export function seriesOf(
  sums: readonly UsageSum[],
  places: readonly string[],
  valueOf: (sum: UsageSum) => bigint,
  { nameOf = shownName, only }: SeriesOptions = {},
): readonly Series[] {
  const placeOf = new Map(places.map((place, index) => [place, index]));
  const found = new Map<string, { readonly values: bigint[]; total: bigint }>();
  for (const sum of sums) {
    const [time = "", name = ""] = sum.values;
    const [place, value] = [placeOf.get(time), valueOf(sum)];
    if (place === undefined || value === 0n) continue;
    const series = found.get(name) ?? { values: places.map(() => 0n), total: 0n };
    series.values[place] = (series.values[place] ?? 0n) + value;
    series.total += value;
    found.set(name, series);
  }
  return [...found]
    .toSorted(([one, a], [other, b]) =>
      one === OTHERS || other === OTHERS
        ? one === OTHERS
          ? 1
          : -1
        : a.total < b.total
          ? 1
          : a.total > b.total
            ? -1
            : 0,
    )
    .map(([name, { values }]) => ({
      name: nameOf(name),
      values,
      colour: name === OTHERS ? OTHERS_COLOUR : colourOf(name),
      only: name === "" || name === OTHERS ? undefined : only?.(name),
    }));
}

/** Sums by time alone, as one series. */
export function valuesAt<Value>(
  sums: readonly UsageSum[],
  places: readonly string[],
  valueOf: (sum: UsageSum) => Value,
  none: Value,
): readonly Value[] {
  const byPlace = new Map(sums.map((sum) => [sum.values[0] ?? "", sum]));
  return places.map((place) => {
    const sum = byPlace.get(place);
    return sum === undefined ? none : valueOf(sum);
  });
}
