/** What a whole chunk adds up to by one or two properties, kept for those who ask the same again. */
import { LRUCache } from "lru-cache";
import type { Chunk } from "./chunk.js";
import { codesOf, type Dimension } from "./usage-codes.js";
import { type MetGroups, UsagePlaces } from "./usage-places.js";
import { UsageSums } from "./usage-sums.js";
import { TimeCounts } from "./usage-times.js";

export interface ChunkSums {
  readonly met: MetGroups;
  readonly sums: UsageSums;
  readonly times: TimeCounts;
}

const BYTES_MAX = 64 * 1024 * 1024;
/** A group of fewer rows than these, as a mean, is not much less than its rows. */
const ROWS_A_GROUP_MIN = 16;
/** That a chunk has too many groups is kept as well. */
const TOO_MANY = "too many groups";

/** Of chunks by their ids: a chunk never changes, and another one that takes its place has another id. */
export class ChunkSumsCache {
  readonly #known = new LRUCache<string, ChunkSums | typeof TOO_MANY>({ maxSize: BYTES_MAX });

  constructor(private readonly rowsAGroupMin = ROWS_A_GROUP_MIN) {}

  /** Undefined where the chunk's rows are as quickly added up. */
  of(id: number, chunk: Chunk, dimensions: readonly Dimension[]): ChunkSums | undefined {
    const name = `${id} ${dimensions.join()}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known === TOO_MANY ? undefined : known;
    const made = sumsOf(chunk, dimensions, this.rowsAGroupMin);
    const size = made === undefined ? 1 : made.sums.bytes(made.met.pairs.length) + made.times.bytes;
    this.#known.set(name, made ?? TOO_MANY, { size: Math.max(1, size) });
    return made;
  }

  /** Also what an erased person is named by is gone then. */
  remove(id: number): void {
    const begin = `${id} `;
    const gone = [...this.#known.keys()].filter((name) => name.startsWith(begin));
    for (const name of gone) this.#known.delete(name);
  }
}

function sumsOf(
  { facts, count }: Chunk,
  dimensions: readonly Dimension[],
  rowsAGroupMin: number,
): ChunkSums | undefined {
  const places = new UsagePlaces();
  const codes = dimensions.map((dimension) => codesOf(facts, dimension, count));
  const groups = places.of(codes, count);
  const { groupCount } = places;
  if (groupCount * rowsAGroupMin > count) return undefined;
  const sums = new UsageSums();
  sums.addRows(groups, groupCount, facts);
  return { met: places.met(), sums, times: TimeCounts.of(groups, groupCount, facts) };
}
