/** Sums of usage by one or two names, as the table and its file show them. */
import type { UsageSum } from "../../gen/console/usage_service.js";
import type { Meter } from "../../gen/console/usage.js";
import { addedMeters, metersCell } from "../../src/api/meters.ts";
import { formatUsd } from "../../src/base/money.ts";
import { csvOf } from "../parts/csv.ts";
import { sumOf } from "../parts/series.ts";
import { inputOf, outputOf } from "../requests/tokens.ts";
import type { UsageGroup } from "../states.ts";
import { failedOf } from "./measures.ts";

export interface Group {
  /** The values by which it is grouped, in the order of the columns. */
  readonly names: readonly string[];
  readonly requestCount: bigint;
  readonly failedCount: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  /** Quantities of other units than tokens. */
  readonly meters: readonly Meter[];
  readonly costNanos: bigint;
}

/** The groups, the dearest first; by day, the newest first. */
export function groupsOf(sums: readonly UsageSum[], by: readonly UsageGroup[]): readonly Group[] {
  const groups = sums.map((sum) => groupOf(sum.values, [sum]));
  return groups.toSorted((a, b) =>
    by[0] === "day" ? compare(b.names[0], a.names[0]) : compare(b.costNanos, a.costNanos),
  );
}

export function groupOf(names: readonly string[], sums: readonly UsageSum[]): Group {
  return {
    names,
    requestCount: sumOf(sums, ({ requestCount }) => requestCount),
    failedCount: sumOf(sums, failedOf),
    inputTokens: sumOf(sums, ({ usage }) => inputOf(usage)),
    outputTokens: sumOf(sums, ({ usage }) => outputOf(usage)),
    meters: sums.reduce<Meter[]>((all, { usage }) => addedMeters(all, usage?.meters ?? []), []),
    costNanos: sumOf(sums, ({ costNanos }) => costNanos),
  };
}

/** What groups cost in another period. */
export interface Before {
  readonly totalNanos: bigint;
  readonly costOf: (names: readonly string[]) => bigint;
}

export function beforeOf(sums: readonly UsageSum[]): Before {
  const costs = new Map(sums.map(({ values, costNanos }) => [JSON.stringify(values), costNanos]));
  return {
    totalNanos: sumOf(sums, ({ costNanos }) => costNanos),
    costOf: (names) => costs.get(JSON.stringify(names)) ?? 0n,
  };
}

/** What is shown, for a spreadsheet. Money is whole nano-USD and USD, as plain numbers. */
export function groupsCsv(heads: readonly string[], groups: readonly Group[]): string {
  const head = [...heads, "requests", "failed", "input_tokens", "output_tokens", "meters", "cost_nanos", "cost_usd"];
  const lines = groups.map(({ names, requestCount, failedCount, inputTokens, outputTokens, meters, costNanos }) => [
    ...names,
    requestCount,
    failedCount,
    inputTokens,
    outputTokens,
    metersCell(meters),
    costNanos,
    formatUsd(costNanos),
  ]);
  return csvOf(head, lines);
}

function compare<Value extends bigint | string>(a: Value | undefined, b: Value | undefined): number {
  if (a === b || a === undefined || b === undefined) return 0;
  return a < b ? -1 : 1;
}
