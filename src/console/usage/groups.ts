/** Sums of usage by one or two names. */
import type { UsageSummary } from "../../../gen/console/usage_service.js";
import { csvOf } from "../parts/csv.ts";
import { sumOf } from "../parts/series.ts";
import { inputOf, outputOf } from "../requests/tokens.ts";
import type { UsageGroup } from "../states.ts";

export interface Group {
  /** The names by which it is grouped, in the order of the columns. */
  readonly names: readonly string[];
  readonly requestCount: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly costNanos: bigint;
}

export const NAME_OF: Readonly<Record<UsageGroup, (row: UsageSummary) => string>> = {
  model: ({ model }) => model,
  key: ({ keyId }) => keyId,
  day: ({ day }) => day,
  account: ({ accountId }) => accountId,
};

/** The groups, the dearest first; by day, the newest first. */
export function groupsOf(rows: readonly UsageSummary[], by: readonly UsageGroup[]): readonly Group[] {
  const found = new Map<string, UsageSummary[]>();
  for (const row of rows) {
    const key = by.map((one) => NAME_OF[one](row)).join("\n");
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  const groups = [...found].map(([key, members]) => groupOf(key.split("\n"), members));
  return groups.toSorted((a, b) =>
    by[0] === "day" ? compare(b.names[0], a.names[0]) : compare(b.costNanos, a.costNanos),
  );
}

export function groupOf(names: readonly string[], rows: readonly UsageSummary[]): Group {
  return {
    names,
    requestCount: sumOf(rows, ({ requestCount }) => requestCount),
    inputTokens: sumOf(rows, ({ usage }) => inputOf(usage)),
    outputTokens: sumOf(rows, ({ usage }) => outputOf(usage)),
    costNanos: sumOf(rows, ({ costNanos }) => costNanos),
  };
}

/** What is shown, for a spreadsheet. Money is whole nano-USD and USD. */
export function groupsCsv(heads: readonly string[], groups: readonly Group[], usd: (nanos: bigint) => string): string {
  const head = [...heads, "requests", "input_tokens", "output_tokens", "cost_nanos", "cost_usd"];
  const lines = groups.map(({ names, requestCount, inputTokens, outputTokens, costNanos }) => [
    ...names,
    requestCount,
    inputTokens,
    outputTokens,
    costNanos,
    usd(costNanos),
  ]);
  return csvOf(head, lines);
}

function compare<Value extends bigint | string>(a: Value | undefined, b: Value | undefined): number {
  if (a === b || a === undefined || b === undefined) return 0;
  return a < b ? -1 : 1;
}
