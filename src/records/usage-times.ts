/**
 * Times of many groups. A histogram for each group of each million would be more than memory near the processor, so
 * the buckets of rows are kept as they come, and put in the order of the groups at the end. Of a chunk that is added up
 * already, each group has those of its buckets that are not empty.
 */
import { columnOf, type Part, valueAt } from "./chunk.js";
import { BUCKETS, bucketOf, SHARES, Sketch } from "./sketch.js";

/** So many rows wait to be ordered; then they are counted. */
const WAITING_ROWS_MAX = 1 << 21;
/** Of a row: one above the bucket of its first token, and of its whole time above that; zero is no time. */
const TOTAL_BITS = 16;
const FIRST_MASK = (1 << TOTAL_BITS) - 1;

/** Rows of a chunk, and the group of each. */
export interface RowFacts {
  readonly groups: Int32Array;
  readonly facts: Part;
}

interface RowTimes {
  readonly groups: Int32Array;
  readonly buckets: Uint32Array | Int32Array;
}

export interface TimesOfGroups {
  /** As `SHARES` has them, group by group; NaN where there is no time. */
  readonly firstTokenMs: Float64Array<ArrayBuffer>;
  readonly totalMs: Float64Array<ArrayBuffer>;
}

/** A group of a chunk and, above it, the chunk's place. */
const GROUP_BITS = 15;
const GROUP_MASK = (1 << GROUP_BITS) - 1;
/** An entry of a group: how often a bucket was, above the bucket; those of whole times stand behind the others. */
const BUCKET_BITS = 10;
const BUCKET_MASK = (1 << BUCKET_BITS) - 1;

/** How often each group of some chunks had which times. */
export class TimeCounts {
  private constructor(
    /** Where the entries of each group start, and behind the last one where they end. */
    readonly starts: Uint32Array,
    readonly entries: Uint32Array,
  ) {}

  static of(rows: readonly RowFacts[], groupCount: number): TimeCounts {
    const bucketed = rows.map(({ groups, facts }) => ({ groups, buckets: bucketsOf(facts, groups.length) }));
    const { starts, ordered } = orderedRows(bucketed, groupCount);
    const counts = new Uint32Array(2 * BUCKETS);
    const entryStarts = new Uint32Array(groupCount + 1);
    const entries = new Uint32Array(2 * ordered.length);
    let entryCount = 0;
    for (let group = 1; group < groupCount; group++) {
      entryStarts[group] = entryCount;
      countRows(counts, ordered, starts[group] ?? 0, starts[group + 1] ?? 0);
      for (let bucket = 0; bucket < counts.length; bucket++) {
        const count = counts[bucket] ?? 0;
        if (count > 0) entries[entryCount++] = (count << BUCKET_BITS) | bucket;
      }
      counts.fill(0);
    }
    entryStarts[groupCount] = entryCount;
    return new TimeCounts(entryStarts, entries.slice(0, entryCount));
  }

  get bytes(): number {
    return this.starts.byteLength + this.entries.byteLength;
  }

  addTo(group: number, first: Sketch, total: Sketch): void {
    const { starts, entries } = this;
    for (let at = starts[group] ?? 0; at < (starts[group + 1] ?? 0); at++) {
      const entry = entries[at] ?? 0;
      const bucket = entry & BUCKET_MASK;
      if (bucket < BUCKETS) first.add(bucket, entry >>> BUCKET_BITS);
      else total.add(bucket - BUCKETS, entry >>> BUCKET_BITS);
    }
  }
}

/** Counts of a chunk, and which group each of its groups is. */
interface MergedCounts {
  readonly groups: Int32Array;
  readonly counts: TimeCounts;
}

export class UsageTimes {
  #waiting: RowTimes[] = [];
  #waitingRows = 0;
  readonly #merged: MergedCounts[] = [];
  /** By group, how often each time was, where there were many rows. */
  readonly #counted: Uint32Array[] = [];

  constructor(private readonly waitingRowsMax = WAITING_ROWS_MAX) {}

  /** Group 0 is of nobody. */
  add(groups: Int32Array, groupCount: number, facts: Part): void {
    this.#waiting.push({ groups, buckets: bucketsOf(facts, groups.length) });
    this.#waitingRows += groups.length;
    if (this.#waitingRows >= this.waitingRowsMax) this.#count(groupCount);
  }

  merge(groups: Int32Array, counts: TimeCounts): void {
    this.#merged.push({ groups, counts });
  }

  of(order: Int32Array): TimesOfGroups {
    const { starts, ordered } = orderedRows(this.#waiting, order.length + 1);
    const merged = this.#mergedByGroup(order.length + 1);
    const firstTokenMs = new Float64Array(order.length * SHARES.length).fill(Number.NaN);
    const totalMs = firstTokenMs.slice();
    const [first, total] = [new Sketch(), new Sketch()];
    for (let at = 0; at < order.length; at++) {
      const group = order[at] ?? 0;
      for (let row = starts[group] ?? 0; row < (starts[group + 1] ?? 0); row++) {
        const buckets = ordered[row] ?? 0;
        const [one, whole] = [buckets & FIRST_MASK, buckets >>> TOTAL_BITS];
        if (one !== 0) first.add(one - 1, 1);
        if (whole !== 0) total.add(whole - 1, 1);
      }
      for (let place = merged.starts[group] ?? 0; place < (merged.starts[group + 1] ?? 0); place++) {
        const which = merged.ordered[place] ?? 0;
        this.#merged[which >>> GROUP_BITS]?.counts.addTo(which & GROUP_MASK, first, total);
      }
      this.#addCounted(group, first, total);
      first.take(firstTokenMs, at * SHARES.length);
      total.take(totalMs, at * SHARES.length);
    }
    return { firstTokenMs, totalMs };
  }

  /** Which groups of which chunks each group is, in the order of the groups. */
  #mergedByGroup(groupCount: number): OrderedRows {
    const rows = this.#merged.map(({ groups }, place) => ({
      groups,
      buckets: groups.map((_, at) => (place << GROUP_BITS) | at),
    }));
    return orderedRows(rows, groupCount);
  }

  #count(groupCount: number): void {
    const { starts, ordered } = orderedRows(this.#waiting, groupCount);
    this.#waiting = [];
    this.#waitingRows = 0;
    for (let group = 1; group < groupCount; group++)
      countRows(
        (this.#counted[group] ??= new Uint32Array(2 * BUCKETS)),
        ordered,
        starts[group] ?? 0,
        starts[group + 1] ?? 0,
      );
  }

  #addCounted(group: number, first: Sketch, total: Sketch): void {
    const counts = this.#counted[group];
    if (counts === undefined) return;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const [one, whole] = [counts[bucket] ?? 0, counts[BUCKETS + bucket] ?? 0];
      if (one > 0) first.add(bucket, one);
      if (whole > 0) total.add(bucket, whole);
    }
  }
}

interface OrderedRows {
  /** Where the rows of each group start, and those of the next one. */
  readonly starts: Uint32Array;
  readonly ordered: Uint32Array;
}

/** The buckets of rows in the order of their groups. */
function orderedRows(rows: readonly RowTimes[], groupCount: number): OrderedRows {
  const starts = new Uint32Array(groupCount + 2);
  for (const { groups } of rows)
    for (let row = 0; row < groups.length; row++) {
      const after = (groups[row] ?? 0) + 2;
      starts[after] = (starts[after] ?? 0) + 1;
    }
  // Those of nobody are not ordered at all.
  starts[2] = 0;
  for (let group = 3; group < starts.length; group++) starts[group] = (starts[group] ?? 0) + (starts[group - 1] ?? 0);
  const ordered = new Uint32Array(starts[groupCount + 1] ?? 0);
  for (const { groups, buckets } of rows)
    for (let row = 0; row < groups.length; row++) {
      const group = groups[row] ?? 0;
      if (group === 0) continue;
      // It moves on to where those of the next group start.
      const at = starts[group + 1] ?? 0;
      ordered[at] = buckets[row] ?? 0;
      starts[group + 1] = at + 1;
    }
  return { starts, ordered };
}

/** Counts the times of some of the ordered rows: of first tokens, and behind them of the whole. */
function countRows(counts: Uint32Array, ordered: Uint32Array, from: number, to: number): void {
  for (let row = from; row < to; row++) {
    const buckets = ordered[row] ?? 0;
    const [one, whole] = [(buckets & FIRST_MASK) - 1, BUCKETS + (buckets >>> TOTAL_BITS) - 1];
    if (one >= 0) counts[one] = (counts[one] ?? 0) + 1;
    if (whole >= BUCKETS) counts[whole] = (counts[whole] ?? 0) + 1;
  }
}

/** Of the facts that are in memory: whoever asks next needs the same. */
const known = new WeakMap<Part, Uint32Array>();

function bucketsOf(facts: Part, count: number): Uint32Array {
  const found = known.get(facts);
  if (found !== undefined) return found;
  const buckets = new Uint32Array(count);
  const [first, total] = [columnOf(facts, "firstToken"), columnOf(facts, "total")];
  for (let row = 0; row < count; row++) {
    const [one, whole] = [valueAt(first, row), valueAt(total, row)];
    buckets[row] = (one === 0 ? 0 : bucketOf(one) + 1) + (whole === 0 ? 0 : (bucketOf(whole) + 1) << TOTAL_BITS);
  }
  known.set(facts, buckets);
  return buckets;
}
