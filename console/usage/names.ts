/** The names of keys beside their ids, as sums have them. */
import type { UsageSum } from "../../gen/console/usage_service.js";
import { utcDay } from "../format.ts";
import { useKeyNames } from "../keys/key-names.ts";
import { OTHERS, shownName } from "../parts/series.ts";
import type { UsageGroup } from "../states.ts";

export type NameOf = (group: UsageGroup, value: string) => string;

/** The ids of keys in sums, at most as many as are named. */
export function keysIn(sums: readonly UsageSum[] | undefined, grouped: readonly UsageGroup[]): readonly string[] {
  const place = grouped.indexOf("key");
  if (sums === undefined || place < 0) return [];
  return sums.map(({ values }) => values[place] ?? "").filter((id) => id !== "" && id !== OTHERS);
}

/** The names of the keys that are shown; undefined while they are on their way. */
export function useNames(ids: readonly string[], areKnown: boolean): NameOf | undefined {
  const names = useKeyNames(ids, { areKnown });
  if (names === undefined) return undefined;
  return (group, value) => {
    if (value === "" || value === OTHERS) return shownName(value);
    return group === "key" ? (names.get(value) ?? value) : group === "day" ? utcDay(value) : value;
  };
}
