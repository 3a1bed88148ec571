/** Adds up records by one or two of their properties, chunk by chunk and column by column. */
import { type Chunk, partOf } from "./chunk.js";
import { everyRow, type RecordFilter, type Test, testOf } from "./filter.js";
import type { ChunkSums } from "./chunk-sums.js";
import { codesOf, type Dimension } from "./usage-codes.js";
import { UsagePlaces } from "./usage-places.js";
import { type SumsOfGroups, UsageSums } from "./usage-sums.js";
import { type TimesOfGroups, UsageTimes } from "./usage-times.js";

/** Groups as they go from thread to thread: numbers in arrays, so that nobody waits for many small objects. */
export interface UsageTable extends SumsOfGroups, TimesOfGroups {
  /** The values of each property, and for each group which of them it has, one property after the other. */
  readonly names: readonly (readonly string[])[];
  readonly places: Int32Array<ArrayBuffer>;
}

export class UsageScan {
  readonly #places = new UsagePlaces();
  readonly #sums = new UsageSums();
  readonly #times = new UsageTimes();

  constructor(
    private readonly dimensions: readonly Dimension[],
    private readonly filter: RecordFilter,
  ) {}

  /** True where all rows of the chunk pass, so that its sums may be added in their place. */
  takesAllOf(chunk: Chunk): boolean {
    return testOf(chunk, this.filter, "createTimeMs") === everyRow;
  }

  /** Throws TooManyGroups. */
  add(chunk: Chunk): void {
    const test = testOf(chunk, this.filter, "createTimeMs");
    if (test === undefined) return;
    // Most questions are of one account among many: what is not asked for is left out once, and not from each sum.
    const rows = test === everyRow ? undefined : passing(chunk.count, test);
    if (rows?.length === 0) return;
    const facts = rows === undefined ? chunk.facts : partOf(chunk.facts, rows);
    const count = rows?.length ?? chunk.count;
    const codes = this.dimensions.map((dimension) => codesOf(facts, dimension, count));
    const groups = this.#places.of(codes, count);
    const { groupCount } = this.#places;
    this.#sums.addRows(groups, groupCount, facts);
    this.#times.add(groups, groupCount, facts);
  }

  /** Adds what a chunk adds up to by the same properties. Throws TooManyGroups. */
  addSums({ met, sums, times }: ChunkSums): void {
    const groups = this.#places.merge(met);
    this.#sums.merge(groups, this.#places.groupCount, sums);
    this.#times.merge(groups, times);
  }

  /** In the order of the values. */
  table(): UsageTable {
    const { groups, names, places } = this.#places.inOrder(this.dimensions.length);
    return { names, places, ...this.#sums.of(groups), ...this.#times.of(groups) };
  }
}

/** The rows that pass. */
function passing(count: number, test: Test): Int32Array {
  const rows = new Int32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) if (test(row)) rows[found++] = row;
  return rows.subarray(0, found);
}
