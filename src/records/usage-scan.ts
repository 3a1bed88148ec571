/** Adds up records by one or two of their properties, chunk by chunk and column by column. */
import { USAGE_FIELDS } from "../api/usage.js";
import { type Chunk, columnOf, type Part } from "./chunk.js";
import { type ColumnName, FLAG } from "./columns.js";
import { isSettled, type RecordFilter, testOf } from "./filter.js";
import { type Codes, codesOf, type Dimension } from "./usage-codes.js";
import { BUCKETS, bucketOf, percentiles } from "./sketch.js";

/** What is added up; each is exact. */
export const SUMS = ["costNanos", "chargedNanos", "operatorCostNanos", "marginNanos", ...USAGE_FIELDS] as const;
export type SumName = (typeof SUMS)[number];
/** Those that are columns of the records, and where the others stand among the sums. */
const COLUMN_SUMS = SUMS.flatMap((name, place) => (name === "marginNanos" ? [] : [{ name, place }]));
const MARGIN = SUMS.indexOf("marginNanos");
const WIDTH = SUMS.length;
/** Two numbers up to this are added exactly. */
const EXACT_MAX = 2 ** 52;

/** More groups are no table that anybody reads, and would take the memory of all. */
export const GROUPS_MAX = 20_000;
/** A question that makes more groups is refused: whoever asks narrows it. */
export class TooManyGroups extends Error {}

/** Percentiles of one kind of times: three numbers a group; the first is NaN where there is no time. */
export const SHARES = [0.5, 0.95, 0.99] as const;

/** Groups as they go from thread to thread: numbers in arrays, so that nobody waits for many small objects. */
export interface UsageTable {
  /** The values of each group, one after the other. */
  readonly values: readonly string[];
  readonly width: number;
  readonly requestCounts: Float64Array<ArrayBuffer>;
  readonly answeredCounts: Float64Array<ArrayBuffer>;
  readonly settledCounts: Float64Array<ArrayBuffer>;
  /** As `SUMS` has them, group by group. */
  readonly sums: BigInt64Array<ArrayBuffer>;
  readonly firstTokenMs: Float64Array<ArrayBuffer>;
  readonly totalMs: Float64Array<ArrayBuffer>;
  /** The group's place, the reason, and how often. */
  readonly errors: readonly (readonly [number, string, number])[];
}

/** Numbers of which there are so many a group; it grows with the groups. */
class Rows<Numbers extends Float64Array | Uint32Array> {
  constructor(
    public numbers: Numbers,
    private readonly make: (length: number) => Numbers,
  ) {}

  hold(length: number): void {
    if (length <= this.numbers.length) return;
    const grown = this.make(Math.max(length, this.numbers.length * 2));
    grown.set(this.numbers);
    this.numbers = grown;
  }
}

const floats = (length: number): Float64Array => new Float64Array(length);
const counts = (length: number): Uint32Array => new Uint32Array(length);

export class UsageScan {
  readonly #places = new Map<string, number>();
  readonly #values: (readonly string[])[] = [];
  readonly #requestCounts = new Rows(floats(16), floats);
  readonly #answeredCounts = new Rows(floats(16), floats);
  readonly #settledCounts = new Rows(floats(16), floats);
  readonly #sums = new Rows(floats(16 * WIDTH), floats);
  /** What no longer fits beside, by its place among the sums. */
  readonly #large = new Map<number, bigint>();
  readonly #firstToken = new Rows(counts(4 * BUCKETS), counts);
  readonly #total = new Rows(counts(4 * BUCKETS), counts);
  readonly #errors = new Map<number, Map<string, number>>();

  constructor(
    private readonly dimensions: readonly Dimension[],
    private readonly filter: RecordFilter,
  ) {}

  /** Throws TooManyGroups. */
  add(chunk: Chunk): void {
    const passes = testOf(chunk, this.filter);
    if (passes === undefined) return;
    const { facts, count } = chunk;
    const codes = this.dimensions.map((dimension) => codesOf(facts, dimension, count));
    const rows = this.#grouped(codes, count, passes);
    if (rows.globals.length === 1) return;
    const scratch = new Float64Array(count);
    this.#addCounts(rows, facts, count);
    this.#addSums(rows, facts, scratch);
    this.#addErrors(rows, facts, scratch);
    addTimes(this.#firstToken.numbers, rows, cellsOf(facts, "firstToken", scratch));
    addTimes(this.#total.numbers, rows, cellsOf(facts, "total", scratch));
  }

  /** In the order of the values. */
  table(): UsageTable {
    const width = this.dimensions.length;
    const order = [...this.#places.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, place]) => place);
    const sums = new BigInt64Array(order.length * WIDTH);
    const table: UsageTable = {
      values: order.flatMap((place) => this.#values[place] ?? []),
      width,
      requestCounts: Float64Array.from(order, (place) => this.#requestCounts.numbers[place] ?? 0),
      answeredCounts: Float64Array.from(order, (place) => this.#answeredCounts.numbers[place] ?? 0),
      settledCounts: Float64Array.from(order, (place) => this.#settledCounts.numbers[place] ?? 0),
      sums,
      firstTokenMs: timesOf(this.#firstToken.numbers, order),
      totalMs: timesOf(this.#total.numbers, order),
      errors: order.flatMap((place, at) =>
        [...(this.#errors.get(place) ?? [])].map(([reason, count]) => [at, reason, count] as const),
      ),
    };
    for (const [at, place] of order.entries())
      for (let name = 0; name < WIDTH; name++) {
        const from = place * WIDTH + name;
        sums[at * WIDTH + name] = BigInt(this.#sums.numbers[from] ?? 0) + (this.#large.get(from) ?? 0n);
      }
    return table;
  }

  /** Which group each row is of: 0 for those that do not pass, else one above its place among `globals`. */
  #grouped(codes: readonly Codes[], count: number, passes: (row: number) => boolean): GroupedRows {
    const [first = NO_CODES, second = NO_CODES] = codes;
    const groups = new Int32Array(count);
    const globals: number[] = [-1];
    const known = new Places(first.span * second.span);
    const [ones, others] = [first.of, second.of];
    for (let row = 0; row < count; row++) {
      if (!passes(row)) continue;
      const one = ones === undefined ? 0 : (ones[row] ?? 0);
      const other = others === undefined ? 0 : (others[row] ?? 0);
      const code = one * second.span + other;
      let group = known.get(code);
      if (group === 0) {
        group = globals.length;
        known.set(code, group);
        globals.push(this.#place(codes.map((each, at) => each.nameOf(at === 0 ? one : other))));
      }
      groups[row] = group;
    }
    return { groups, globals: Int32Array.from(globals) };
  }

  #place(values: readonly string[]): number {
    const id = values.join("\u0000");
    const known = this.#places.get(id);
    if (known !== undefined) return known;
    const place = this.#values.length;
    if (place >= GROUPS_MAX) throw new TooManyGroups();
    this.#places.set(id, place);
    this.#values.push(values);
    this.#requestCounts.hold(place + 1);
    this.#answeredCounts.hold(place + 1);
    this.#settledCounts.hold(place + 1);
    this.#sums.hold((place + 1) * WIDTH);
    this.#firstToken.hold((place + 1) * BUCKETS);
    this.#total.hold((place + 1) * BUCKETS);
    return place;
  }

  #addCounts({ groups, globals }: GroupedRows, facts: Part, count: number): void {
    const [flags, source] = [columnOf(facts, "flags"), columnOf(facts, "usageSource")];
    const [requests, answered] = [new Float64Array(globals.length), new Float64Array(globals.length)];
    const settled = new Float64Array(globals.length);
    for (let row = 0; row < count; row++) {
      const group = groups[row] ?? 0;
      requests[group] = (requests[group] ?? 0) + 1;
      if (((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.answered) === 0) continue;
      answered[group] = (answered[group] ?? 0) + 1;
      if (isSettled(source.base + (source.cells?.[row] ?? 0))) settled[group] = (settled[group] ?? 0) + 1;
    }
    spread(this.#requestCounts.numbers, requests, globals);
    spread(this.#answeredCounts.numbers, answered, globals);
    spread(this.#settledCounts.numbers, settled, globals);
  }

  #addSums(rows: GroupedRows, facts: Part, scratch: Float64Array): void {
    for (const { name, place } of COLUMN_SUMS) {
      // Most kinds of tokens occur in no row of a chunk.
      if (isZero(facts, name)) continue;
      this.#take(place, rows, cellsOf(facts, name, scratch), 1);
    }
    // The margin is of requests whose cost is known.
    const charged = Float64Array.from(cellsOf(facts, "chargedNanos", scratch));
    const flags = cellsOf(facts, "flags", scratch);
    for (let row = 0; row < charged.length; row++) if (((flags[row] ?? 0) & FLAG.costKnown) === 0) charged[row] = 0;
    this.#take(MARGIN, rows, charged, 1);
    if (!isZero(facts, "operatorCostNanos")) this.#take(MARGIN, rows, cellsOf(facts, "operatorCostNanos", scratch), -1);
  }

  #take(name: number, rows: GroupedRows, values: Float64Array, sign: 1 | -1): void {
    const { globals } = rows;
    const parts = added(rows, values);
    if (parts.some((part, group) => group > 0 && part >= EXACT_MAX)) return this.#takeLarge(name, rows, values, sign);
    const sums = this.#sums.numbers;
    for (let group = 1; group < globals.length; group++) {
      const at = (globals[group] ?? 0) * WIDTH + name;
      const sum = (sums[at] ?? 0) + sign * (parts[group] ?? 0);
      if (Math.abs(sum) < EXACT_MAX) {
        sums[at] = sum;
        continue;
      }
      this.#large.set(at, (this.#large.get(at) ?? 0n) + BigInt(sums[at] ?? 0));
      sums[at] = sign * (parts[group] ?? 0);
    }
  }

  /** Row by row, where their sum may be more than a double holds. */
  #takeLarge(name: number, { groups, globals }: GroupedRows, values: Float64Array, sign: 1 | -1): void {
    for (let row = 0; row < values.length; row++) {
      const group = groups[row] ?? 0;
      if (group === 0) continue;
      const at = (globals[group] ?? 0) * WIDTH + name;
      this.#large.set(at, (this.#large.get(at) ?? 0n) + BigInt(sign * (values[row] ?? 0)));
    }
  }

  #addErrors({ groups, globals }: GroupedRows, facts: Part, scratch: Float64Array): void {
    if (isZero(facts, "reason")) return;
    const reasons = cellsOf(facts, "reason", scratch);
    const flags = columnOf(facts, "flags");
    for (let row = 0; row < reasons.length; row++) {
      const [reason, group] = [reasons[row] ?? 0, groups[row] ?? 0];
      if (reason === 0 || group === 0) continue;
      if (((flags.base + (flags.cells?.[row] ?? 0)) & FLAG.adopted) !== 0) continue;
      const place = globals[group] ?? 0;
      let of = this.#errors.get(place);
      if (of === undefined) this.#errors.set(place, (of = new Map()));
      const name = facts.texts[reason] ?? "";
      of.set(name, (of.get(name) ?? 0) + 1);
    }
  }
}

interface GroupedRows {
  readonly groups: Int32Array;
  readonly globals: Int32Array;
}

const NO_CODES: Codes = { of: undefined, span: 1, nameOf: () => "" };

/** The group of a pair of codes in one chunk; 0 is none yet. */
class Places {
  readonly #table: Int32Array | undefined;
  readonly #map = new Map<number, number>();

  constructor(span: number) {
    if (span <= TABLE_MAX) this.#table = new Int32Array(span);
  }

  get(code: number): number {
    return (this.#table === undefined ? this.#map.get(code) : this.#table[code]) ?? 0;
  }

  set(code: number, group: number): void {
    if (this.#table === undefined) this.#map.set(code, group);
    else this.#table[code] = group;
  }
}

const TABLE_MAX = 1 << 18;

function isZero(facts: Part, name: ColumnName): boolean {
  const { base, cells } = columnOf(facts, name);
  return cells === undefined && base === 0;
}

/** The values of a column, in numbers of one kind: loops over those are fast, whichever the column has. */
function cellsOf(facts: Part, name: ColumnName, scratch: Float64Array): Float64Array {
  const { base, cells } = columnOf(facts, name);
  if (cells === undefined) return scratch.fill(base);
  scratch.set(cells);
  if (base !== 0) for (let row = 0; row < scratch.length; row++) scratch[row] = (scratch[row] ?? 0) + base;
  return scratch;
}

/** The sum of each group in one chunk: whole numbers below 2^53. */
function added({ groups, globals }: GroupedRows, values: Float64Array): Float64Array {
  const parts = new Float64Array(globals.length);
  for (let row = 0; row < values.length; row++) {
    const group = groups[row] ?? 0;
    parts[group] = (parts[group] ?? 0) + (values[row] ?? 0);
  }
  return parts;
}

function addTimes(sketches: Uint32Array, { groups, globals }: GroupedRows, stored: Float64Array): void {
  for (let row = 0; row < stored.length; row++) {
    const [time, group] = [stored[row] ?? 0, groups[row] ?? 0];
    if (time === 0 || group === 0) continue;
    const at = (globals[group] ?? 0) * BUCKETS + bucketOf(time);
    sketches[at] = (sketches[at] ?? 0) + 1;
  }
}

function spread(sums: Float64Array, parts: Float64Array, globals: Int32Array): void {
  for (let group = 1; group < globals.length; group++) {
    const place = globals[group] ?? 0;
    sums[place] = (sums[place] ?? 0) + (parts[group] ?? 0);
  }
}

function timesOf(sketches: Uint32Array, order: readonly number[]): Float64Array<ArrayBuffer> {
  const times = new Float64Array(order.length * SHARES.length);
  for (const [at, place] of order.entries())
    times.set(percentiles(sketches.subarray(place * BUCKETS, (place + 1) * BUCKETS), SHARES), at * SHARES.length);
  return times;
}
