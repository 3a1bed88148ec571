/** Adds up records by one or two of their properties, chunk by chunk and column by column. */
import type { Chunk } from "./chunk.js";
import { everyRow, type RecordFilter, testOf } from "./filter.js";
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
    return testOf(chunk, this.filter) === everyRow;
  }

  /** Throws TooManyGroups. */
  add(chunk: Chunk): void {
    const test = testOf(chunk, this.filter);
    if (test === undefined) return;
    const { facts, count } = chunk;
    const codes = this.dimensions.map((dimension) => codesOf(facts, dimension, count));
    const groups = this.#places.of(codes, count, test);
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
