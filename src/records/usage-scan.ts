/** Adds up records by one or two of their properties, chunk by chunk. */
import { USAGE_FIELDS } from "../api/usage.js";
import { DAY_MS } from "../api/day.js";
import { type Chunk, columnOf, type Part, valueAt } from "./chunk.js";
import { type ColumnName, FLAG, type NameColumn, type NumberColumn } from "./columns.js";
import { type RecordFilter, testOf } from "./filter.js";
import { BUCKETS, bucketOf, percentile } from "./sketch.js";

export const DIMENSIONS = [
  "day",
  "hour",
  "minute",
  "account",
  "key",
  "model",
  "upstream",
  "user",
  "tag",
  "reason",
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

const PERIODS: Readonly<Partial<Record<Dimension, number>>> = { day: DAY_MS, hour: 3_600_000, minute: 60_000 };
const COLUMN_OF: Readonly<Partial<Record<Dimension, NameColumn>>> = {
  account: "account",
  key: "key",
  model: "model",
  upstream: "upstream",
  user: "endUser",
  reason: "reason",
};

/** What is added up; each is exact. */
export const SUMS = ["costNanos", "chargedNanos", "operatorCostNanos", "marginNanos", ...USAGE_FIELDS] as const;
export type SumName = (typeof SUMS)[number];

/** A group with its sums. */
export interface UsageGroup {
  /** One value for each dimension that was asked for: a name, or the start of a period such as 2026-11-22T10:00Z. */
  readonly values: readonly string[];
  readonly requestCount: number;
  /** Those that money was set aside for. */
  readonly answeredCount: number;
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

/** More groups are no table that anybody reads, and would take the memory of all. */
export const GROUPS_MAX = 20_000;
/** A question that makes more groups is refused: whoever asks narrows it. */
export class TooManyGroups extends Error {}

class Group {
  requestCount = 0;
  answeredCount = 0;
  readonly errors = new Map<string, number>();
  readonly sums: bigint[] = SUMS.map(() => 0n);
  /** Of the chunk that is read now: whole numbers below 2^53. */
  readonly part = new Float64Array(SUMS.length);
  readonly firstToken = new Uint32Array(BUCKETS);
  readonly total = new Uint32Array(BUCKETS);

  constructor(readonly values: readonly string[]) {}

  /** Adds what the chunk had. */
  settle(): void {
    for (let place = 0; place < SUMS.length; place++) {
      const value = this.part[place] ?? 0;
      if (value !== 0) this.sums[place] = (this.sums[place] ?? 0n) + BigInt(value);
    }
    this.part.fill(0);
  }
}

export class UsageScan {
  readonly #groups = new Map<string, Group>();

  constructor(
    private readonly dimensions: readonly Dimension[],
    private readonly filter: RecordFilter,
  ) {}

  /** Throws TooManyGroups. */
  add(chunk: Chunk): void {
    const passes = testOf(chunk, this.filter);
    if (passes === undefined) return;
    const { facts } = chunk;
    const codes = this.dimensions.map((dimension) => codesOf(facts, dimension));
    const adder = new Adder(facts);
    const touched = new Map<number, Map<number, Group>>();
    const [first = NO_CODES, second = NO_CODES] = codes;
    for (let row = 0; row < chunk.count; row++) {
      if (!passes(row)) continue;
      for (const one of first.of(row)) {
        let others = touched.get(one);
        if (others === undefined) touched.set(one, (others = new Map()));
        for (const other of second.of(row)) {
          let group = others.get(other);
          if (group === undefined) others.set(other, (group = this.#group(codes, [one, other])));
          adder.add(group, row);
        }
      }
    }
    for (const others of touched.values()) for (const group of others.values()) group.settle();
  }

  result(): readonly UsageGroup[] {
    return [...this.#groups.values()].map((group) => ({
      values: group.values,
      requestCount: group.requestCount,
      answeredCount: group.answeredCount,
      errors: Object.fromEntries(group.errors),
      sums: Object.fromEntries(SUMS.map((name, place) => [name, group.sums[place] ?? 0n])) as Record<SumName, bigint>,
      firstTokenMs: percentilesOf(group.firstToken),
      totalMs: percentilesOf(group.total),
    }));
  }

  #group(codes: readonly Codes[], pair: readonly number[]): Group {
    const values = codes.map((each, place) => each.nameOf(pair[place] ?? 0));
    const id = values.join("\u0000");
    let group = this.#groups.get(id);
    if (group !== undefined) return group;
    if (this.#groups.size >= GROUPS_MAX) throw new TooManyGroups();
    this.#groups.set(id, (group = new Group(values)));
    return group;
  }
}

function percentilesOf(counts: Uint32Array): Percentiles | undefined {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(counts, share));
  return p50 === undefined || p95 === undefined || p99 === undefined ? undefined : { p50, p95, p99 };
}

/** The values of one dimension in a chunk, as small numbers. */
interface Codes {
  of(row: number): readonly number[];
  nameOf(code: number): string;
}

const NO_CODES: Codes = { of: () => [0], nameOf: () => "" };

function codesOf(facts: Part, dimension: Dimension): Codes {
  const periodMs = PERIODS[dimension];
  const single = [0];
  if (periodMs !== undefined) {
    const times = columnOf(facts, "endTimeMs");
    return {
      of: (row) => {
        single[0] = Math.floor(valueAt(times, row) / periodMs);
        return single;
      },
      nameOf: (code) => periodName(code * periodMs, dimension),
    };
  }
  if (dimension === "tag") return tagCodes(facts);
  const column = columnOf(facts, COLUMN_OF[dimension] ?? "model");
  return {
    of: (row) => {
      single[0] = valueAt(column, row);
      return single;
    },
    nameOf: (code) => facts.texts[code] ?? "",
  };
}

/** All tags of a request together are one group, so that the sum of all groups is the whole. */
function tagCodes(facts: Part): Codes {
  const column = columnOf(facts, "tags");
  const single = [0];
  const names = facts.texts.map((text) => text.replaceAll("\n", ", "));
  return {
    of: (row) => {
      single[0] = valueAt(column, row);
      return single;
    },
    nameOf: (code) => names[code] ?? "",
  };
}

/** The start of a period, as far as the dimension tells it. */
export function periodName(timeMs: number, dimension: Dimension): string {
  const text = new Date(timeMs).toISOString();
  return dimension === "day" ? text.slice(0, 10) : `${text.slice(0, 16)}Z`;
}

/** Adds rows of one chunk to groups. */
class Adder {
  readonly #columns: readonly { readonly place: number; readonly column: ReturnType<typeof columnOf> }[];
  readonly #reason;
  readonly #flags;
  readonly #charged;
  readonly #operatorCost;
  readonly #firstToken;
  readonly #total;

  constructor(private readonly facts: Part) {
    const of = (name: ColumnName): ReturnType<typeof columnOf> => columnOf(facts, name);
    // Most kinds of tokens occur in no row of a chunk.
    this.#columns = SUMS.flatMap((name, place) => {
      if (name === "marginNanos" || name === "operatorCostNanos") return [];
      const column = of(name satisfies NumberColumn);
      return column.cells === undefined && column.base === 0 ? [] : [{ place, column }];
    });
    this.#reason = of("reason");
    this.#flags = of("flags");
    this.#charged = of("chargedNanos");
    this.#operatorCost = of("operatorCostNanos");
    this.#firstToken = of("firstToken");
    this.#total = of("total");
  }

  add(group: Group, row: number): void {
    const { part } = group;
    group.requestCount += 1;
    for (const { place, column } of this.#columns) part[place] = (part[place] ?? 0) + valueAt(column, row);
    const flags = valueAt(this.#flags, row);
    if ((flags & FLAG.answered) !== 0) group.answeredCount += 1;
    if ((flags & FLAG.costKnown) !== 0) {
      const cost = valueAt(this.#operatorCost, row);
      part[2] = (part[2] ?? 0) + cost;
      part[3] = (part[3] ?? 0) + valueAt(this.#charged, row) - cost;
    }
    const reason = valueAt(this.#reason, row);
    if (reason !== 0 && (flags & FLAG.adopted) === 0) {
      const name = this.facts.texts[reason] ?? "";
      group.errors.set(name, (group.errors.get(name) ?? 0) + 1);
    }
    const firstToken = valueAt(this.#firstToken, row);
    if (firstToken !== 0) count(group.firstToken, bucketOf(firstToken));
    const total = valueAt(this.#total, row);
    if (total !== 0) count(group.total, bucketOf(total));
  }
}

function count(counts: Uint32Array, bucket: number): void {
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}
