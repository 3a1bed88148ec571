/** Sums of requests as those who ask for them read them: one object a group. */
import type { Meter } from "../api/index.js";
import { addedMeters, NO_METERS } from "../api/meters.js";
import { SHARES } from "./sketch.js";
import type { UsageTable } from "./usage-scan.js";
import { SUMS, type SumName } from "./usage-sums.js";

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
  readonly meters: Meter[];
  readonly firstTokenMs: Percentiles | undefined;
  readonly totalMs: Percentiles | undefined;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** As a table has its groups: by the first value, then by the second. */
export function inOrder({ values }: UsageGroup, { values: others }: UsageGroup): number {
  for (const [place, value] of values.entries()) {
    const other = others[place] ?? "";
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Two groups as one, with the values of the first. Shares of times of both together are not known. */
export function merged(a: UsageGroup, b: UsageGroup): UsageGroup {
  const sums = Object.fromEntries(SUMS.map((name) => [name, a.sums[name] + b.sums[name]])) as Record<SumName, bigint>;
  const errors: Record<string, number> = { ...a.errors };
  for (const [reason, count] of Object.entries(b.errors)) errors[reason] = (errors[reason] ?? 0) + count;
  return {
    values: a.values,
    requestCount: a.requestCount + b.requestCount,
    answeredCount: a.answeredCount + b.answeredCount,
    settledCount: a.settledCount + b.settledCount,
    errors,
    sums,
    meters: addedMeters(a.meters, b.meters),
    firstTokenMs: undefined,
    totalMs: undefined,
  };
}

/** In the table's order. */
export function groupsOf(table: UsageTable): UsageGroup[] {
  const sums = new TableSums(table.sums);
  return Array.from({ length: table.requestCounts.length }, (_, at) => new TableGroup(table, sums, at));
}

/** Those of the group that was read last: kept for all groups, they would be more garbage than a turn has time for. */
class TableSums {
  #at = -1;
  #sums = NO_SUMS;

  constructor(private readonly numbers: BigInt64Array) {}

  of(at: number): Readonly<Record<SumName, bigint>> {
    if (this.#at === at) return this.#sums;
    this.#at = at;
    return (this.#sums = sumsOf(this.numbers, at * SUMS.length));
  }
}

/** A group is read off the table where it is asked for: of 20,000 nobody makes all at once. */
class TableGroup implements UsageGroup {
  constructor(
    private readonly table: UsageTable,
    private readonly tableSums: TableSums,
    private readonly at: number,
  ) {}

  get values(): readonly string[] {
    const { names, places } = this.table;
    return names.map((each, place) => each[places[this.at * names.length + place] ?? 0] ?? "");
  }

  get requestCount(): number {
    return this.table.requestCounts[this.at] ?? 0;
  }

  get answeredCount(): number {
    return this.table.answeredCounts[this.at] ?? 0;
  }

  get settledCount(): number {
    return this.table.settledCounts[this.at] ?? 0;
  }

  get errors(): Readonly<Record<string, number>> {
    return errorsOf(this.table, this.at);
  }

  get sums(): Readonly<Record<SumName, bigint>> {
    return this.tableSums.of(this.at);
  }

  get meters(): Meter[] {
    return metersAt(this.table, this.at);
  }

  get firstTokenMs(): Percentiles | undefined {
    return percentilesAt(this.table.firstTokenMs, this.at);
  }

  get totalMs(): Percentiles | undefined {
    return percentilesAt(this.table.totalMs, this.at);
  }
}

/** Of most groups. */
export const NO_ERRORS: Readonly<Record<string, never>> = {};

function errorsOf({ reasons, errors }: UsageTable, at: number): Readonly<Record<string, number>> {
  let found: Record<string, number> | undefined;
  for (let place = 0; place < reasons.length; place++) {
    const count = errors[at * reasons.length + place] ?? 0;
    if (count > 0) (found ??= {})[reasons[place] ?? ""] = count;
  }
  return found ?? NO_ERRORS;
}

function metersAt({ meters, quantities }: UsageTable, at: number): Meter[] {
  const found = meters.map((meter, place) => ({
    ...meter,
    quantity: BigInt(quantities[at * meters.length + place] ?? 0),
  }));
  return addedMeters(NO_METERS, found);
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
