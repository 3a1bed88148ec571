/** Sums of requests as those who ask for them read them: one object a group. */
import { mapInTurns } from "../api/turns.js";
import { SHARES, SUMS, type SumName, type UsageTable } from "./usage-scan.js";

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
  const errors = new Map<number, Record<string, number>>();
  for (const [at, reason, count] of table.errors) errors.set(at, { ...errors.get(at), [reason]: count });
  return mapInTurns(table.requestCounts.keys(), (at) => ({
    values: table.values.slice(at * table.width, (at + 1) * table.width),
    requestCount: table.requestCounts[at] ?? 0,
    answeredCount: table.answeredCounts[at] ?? 0,
    settledCount: table.settledCounts[at] ?? 0,
    errors: errors.get(at) ?? NO_ERRORS,
    sums: sumsOf(table.sums, at * SUMS.length),
    firstTokenMs: percentilesAt(table.firstTokenMs, at),
    totalMs: percentilesAt(table.totalMs, at),
  }));
}

const NO_ERRORS: Readonly<Record<string, number>> = {};

function sumsOf(numbers: BigInt64Array, from: number): Record<SumName, bigint> {
  return Object.fromEntries(SUMS.map((name, place) => [name, numbers[from + place] ?? 0n])) as Record<SumName, bigint>;
}

function percentilesAt(times: Float64Array, at: number): Percentiles | undefined {
  const [p50 = Number.NaN, p95 = p50, p99 = p95] = times.subarray(at * SHARES.length, (at + 1) * SHARES.length);
  return Number.isNaN(p50) ? undefined : { p50, p95, p99 };
}
