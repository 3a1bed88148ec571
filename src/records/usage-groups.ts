/** Sums of requests as those who ask for them read them: one object a group. */
import { mapInTurns } from "../api/turns.js";
import { SHARES } from "./sketch.js";
import { SUMS, type SumName, type UsageTable } from "./usage-scan.js";

/** A group with its sums. */
export interface UsageGroup {
  /** One value for each dimension that was asked for: a name, or the start of a period such as 2026-11-22T10:00Z. */
  readonly values: readonly string[];
  readonly requestCount: number;
  /** Those that money was set aside for. */
  readonly answeredCount: number;
  /** Those of them that were charged, as the ledger counts them. */
  readonly settledCount: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly sums: Readonly<Record<SumName, bigint>>;
  readonly firstTokenMs: Percentiles | undefined;
  readonly totalMs: Percentiles | undefined;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** In the table's order. */
export function groupsOf(table: UsageTable): Promise<UsageGroup[]> {
  return mapInTurns(table.requestCounts.keys(), (at) => ({
    values: table.names.map((names, place) => names[table.places[at * table.names.length + place] ?? 0] ?? ""),
    requestCount: table.requestCounts[at] ?? 0,
    answeredCount: table.answeredCounts[at] ?? 0,
    settledCount: table.settledCounts[at] ?? 0,
    errors: errorsOf(table, at),
    sums: sumsOf(table.sums, at * SUMS.length),
    firstTokenMs: percentilesAt(table.firstTokenMs, at),
    totalMs: percentilesAt(table.totalMs, at),
  }));
}

function errorsOf({ reasons, errors }: UsageTable, at: number): Record<string, number> {
  const found: Record<string, number> = {};
  for (let place = 0; place < reasons.length; place++) {
    const count = errors[at * reasons.length + place] ?? 0;
    if (count > 0) found[reasons[place] ?? ""] = count;
  }
  return found;
}

const NO_SUMS = Object.fromEntries(SUMS.map((name) => [name, 0n])) as Record<SumName, bigint>;

function sumsOf(numbers: BigInt64Array, from: number): Record<SumName, bigint> {
  const sums = { ...NO_SUMS };
  for (let place = 0; place < SUMS.length; place++) {
    const [name, sum] = [SUMS[place], numbers[from + place]];
    if (name !== undefined && sum !== undefined) sums[name] = sum;
  }
  return sums;
}

function percentilesAt(times: Float64Array, at: number): Percentiles | undefined {
  const from = at * SHARES.length;
  const [p50, p95, p99] = [times[from], times[from + 1], times[from + 2]];
  if (p50 === undefined || p95 === undefined || p99 === undefined || Number.isNaN(p50)) return undefined;
  return { p50, p95, p99 };
}
