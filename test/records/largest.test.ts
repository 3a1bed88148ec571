/** Of many values only the dearest are told one by one, and nothing of the others is lost. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { largestOf } from "../../src/records/largest.js";
import { OTHER } from "../../src/records/columns.js";
import type { Dimension } from "../../src/records/usage-codes.js";
import { inOrder, type UsageGroup } from "../../src/records/usage-groups.js";
import { SUMS, type SumName } from "../../src/records/usage-sums.js";

const TIMES = { p50: 1, p95: 2, p99: 3 };
const groups = fc
  .uniqueArray(
    fc.record({
      values: fc.tuple(fc.constantFrom("2026-11-20", "2026-11-21"), fc.constantFrom("", "a", "b", "c", "d", OTHER)),
      cost: fc.bigInt({ min: 0n, max: 9_000_000_000_000_000_000n }),
      requests: fc.nat(9),
      errors: fc.dictionary(fc.constantFrom("RATE_LIMITED", "UPSTREAM_FAILED"), fc.integer({ min: 1, max: 3 })),
    }),
    { selector: ({ values }) => values.join(" "), maxLength: 12 },
  )
  .map((all) => all.map(groupOf).toSorted(inOrder));

function groupOf(one: {
  readonly values: readonly string[];
  readonly cost: bigint;
  readonly requests: number;
  readonly errors: Readonly<Record<string, number>>;
}): UsageGroup {
  const { values, cost, requests, errors } = one;
  const sums = Object.fromEntries(SUMS.map((name) => [name, name === "costNanos" ? cost : 1n])) as Record<
    SumName,
    bigint
  >;
  const counts = { requestCount: requests, answeredCount: requests, settledCount: requests };
  return { values, errors: { ...errors }, sums, meters: [], ...counts, firstTokenMs: TIMES, totalMs: TIMES };
}

test("the sum of all stays the same, in order, with at most so many values and those of the others", async () => {
  await fc.assert(
    fc.asyncProperty(groups, fc.integer({ min: 1, max: 6 }), async (given, valuesMax) => {
      const by: readonly Dimension[] = ["day", "model"];
      const told = await largestOf(given, by, valuesMax);
      expect(totalOf(told)).toEqual(totalOf(given));
      expect(told.map(({ values }) => values)).toEqual([...told].toSorted(inOrder).map(({ values }) => values));
      const names = new Set(told.map(({ values }) => values[1] ?? ""));
      names.delete(OTHER);
      expect(names.size).toBeLessThanOrEqual(valuesMax);
      // None that is left out cost more than one that is told.
      const costs = costsOf(given);
      const leastTold = [...names].map((name) => costs.get(name) ?? 0n);
      for (const [name, cost] of costs)
        if (!names.has(name) && name !== OTHER) for (const least of leastTold) expect(cost <= least).toBe(true);
    }),
  );
});

test("times are never left out, and one value is told as it is", async () => {
  const given = [
    groupOf({ values: ["2026-11-20"], cost: 1n, requests: 1, errors: {} }),
    groupOf({ values: ["2026-11-21"], cost: 2n, requests: 1, errors: {} }),
  ];
  expect(await largestOf(given, ["day"], 1)).toBe(given);
  const [dearest, others] = await largestOf(given, ["model"], 1);
  expect(dearest).toMatchObject({ values: ["2026-11-21"], firstTokenMs: TIMES });
  expect(others).toMatchObject({ values: [OTHER], requestCount: 1, sums: { costNanos: 1n } });
});

function totalOf(all: readonly UsageGroup[]): unknown {
  const errors: Record<string, number> = {};
  for (const group of all)
    for (const [reason, found] of Object.entries(group.errors)) errors[reason] = (errors[reason] ?? 0) + found;
  return {
    errors,
    costNanos: all.reduce((sum, { sums }) => sum + sums.costNanos, 0n),
    inputTokens: all.reduce((sum, { sums }) => sum + sums.inputTokens, 0n),
    requests: all.reduce((sum, { requestCount }) => sum + requestCount, 0),
  };
}

function costsOf(all: readonly UsageGroup[]): ReadonlyMap<string, bigint> {
  const costs = new Map<string, bigint>();
  for (const { values, sums } of all) costs.set(values[1] ?? "", (costs.get(values[1] ?? "") ?? 0n) + sums.costNanos);
  return costs;
}
