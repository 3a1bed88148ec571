/** Sums of the values that cost most; those of all others are added up, so that the whole stays the whole. */
import { mapInTurns } from "../base/event-loop/turns.js";
import { OTHER } from "./columns.js";
import { type Dimension, isPeriod } from "./usage-codes.js";
import { inOrder, merged, type UsageGroup } from "./usage-groups.js";

/** Keeps so many values of each property that is no time. In the order of the values, the others among them. */
export async function largestOf(
  groups: readonly UsageGroup[],
  dimensions: readonly Dimension[],
  valuesMax: number,
): Promise<readonly UsageGroup[]> {
  const kept: (ReadonlySet<string> | undefined)[] = [];
  for (const [place, dimension] of dimensions.entries())
    kept.push(isPeriod(dimension) ? undefined : await mostExpensive(groups, place, valuesMax));
  if (kept.every((values) => values === undefined)) return groups;
  const found = new Map<string, UsageGroup>();
  await mapInTurns(groups, (group) => {
    const values = group.values.map((value, place) => (kept[place]?.has(value) === false ? OTHER : value));
    const key = JSON.stringify(values);
    const known = found.get(key);
    found.set(key, known === undefined ? { ...plain(group), values } : merged(known, group));
  });
  return [...found.values()].toSorted(inOrder);
}

/** Undefined where all may stay. Of values that cost the same those with more requests stay. */
async function mostExpensive(
  groups: readonly UsageGroup[],
  place: number,
  valuesMax: number,
): Promise<ReadonlySet<string> | undefined> {
  const totals = new Map<string, { costNanos: bigint; requestCount: number }>();
  await mapInTurns(groups, ({ values, sums, requestCount }) => {
    const value = values[place] ?? "";
    const total = totals.get(value) ?? { costNanos: 0n, requestCount: 0 };
    total.costNanos += sums.costNanos;
    total.requestCount += requestCount;
    totals.set(value, total);
  });
  if (totals.size <= valuesMax) return undefined;
  const order = [...totals].toSorted(([, a], [, b]) =>
    a.costNanos === b.costNanos ? b.requestCount - a.requestCount : a.costNanos < b.costNanos ? 1 : -1,
  );
  return new Set(order.slice(0, valuesMax).map(([value]) => value));
}

/** A group that is read off a table has no members of its own to copy. */
function plain(group: UsageGroup): UsageGroup {
  const { values, requestCount, answeredCount, settledCount, errors, sums, meters, firstTokenMs, totalMs } = group;
  return { values, requestCount, answeredCount, settledCount, errors, sums, meters, firstTokenMs, totalMs };
}
