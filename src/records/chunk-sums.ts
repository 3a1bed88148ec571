/** What whole chunks add up to by one or two properties, kept for those who ask the same again. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { Chunk } from "./chunk.js";
import { codesOf, type Dimension } from "./usage-codes.js";
import { type MetGroups, UsagePlaces } from "./usage-places.js";
import { UsageSums } from "./usage-sums.js";
import { type RowFacts, TimeCounts } from "./usage-times.js";

export interface ChunkSums {
  readonly met: MetGroups;
  readonly sums: UsageSums;
  readonly times: TimeCounts;
}

const BYTES_MAX = 64 * 1024 * 1024;
/** A group of fewer rows than these, as a mean, is not much less than its rows. */
const ROWS_A_GROUP_MIN = 12;
/** By users and upstreams one chunk has nearly as many groups as rows; so many of them have a quarter of their rows. */
const RUN_CHUNKS = 16;
/** A billion requests are in fewer. */
const IN_RUNS_MAX = 65_536;
/** That there are too many groups is kept as well. */
const TOO_MANY = "too many groups";

/** Ids of whole chunks that are added up together. */
type Run = readonly number[];

/** Of chunks by their ids: a chunk never changes, and another one that takes its place has another id. */
export class ChunkSumsCache {
  readonly #known = new LRUCache<string, ChunkSums | typeof TOO_MANY>({ maxSize: BYTES_MAX });
  /** The run of each chunk that is in one: questions about other times find the same runs. */
  readonly #runs = new LRUCache<number, Run>(boundedTo(IN_RUNS_MAX));

  constructor(
    private readonly rowsAGroupMin = ROWS_A_GROUP_MIN,
    private readonly runChunks = RUN_CHUNKS,
  ) {}

  /** The runs that are wholly among these chunks, which are in the order of their times. No chunk is in two. */
  runsOf(ids: readonly number[]): readonly Run[] {
    let next: number[] = [];
    for (const id of ids) {
      if (this.#runs.get(id) !== undefined) next = [];
      else if (next.push(id) === this.runChunks) {
        for (const each of next) this.#runs.set(each, next);
        next = [];
      }
    }
    const asked = new Set(ids);
    const runs = new Set(ids.map((id) => this.#runs.get(id)));
    return [...runs].filter(
      (run): run is Run => run?.every((id) => asked.has(id) && this.#runs.get(id) === run) ?? false,
    );
  }

  /** Undefined where the rows are as quickly added up, or a chunk is gone. `read` gives a chunk. */
  async of(
    ids: Run,
    dimensions: readonly Dimension[],
    read: (id: number) => Promise<Chunk | undefined>,
  ): Promise<ChunkSums | undefined> {
    const name = `${ids.join("+")} ${JSON.stringify(dimensions)}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known === TOO_MANY ? undefined : known;
    const chunks: Chunk[] = [];
    for (const id of ids) {
      const chunk = await read(id);
      if (chunk === undefined) return undefined;
      chunks.push(chunk);
    }
    const made = sumsOf(chunks, dimensions, this.rowsAGroupMin);
    const size = made === undefined ? 1 : made.sums.bytes(made.met.pairs.length) + made.times.bytes;
    this.#known.set(name, made ?? TOO_MANY, { size: Math.max(1, size) });
    return made;
  }

  /** Also what an erased person is named by is gone then. */
  remove(id: number): void {
    for (const each of this.#runs.get(id) ?? []) this.#runs.delete(each);
    const gone = [...this.#known.keys()].filter((name) => name.split(" ", 1)[0]?.split("+").includes(String(id)));
    for (const name of gone) this.#known.delete(name);
  }
}

function sumsOf(
  chunks: readonly Chunk[],
  dimensions: readonly Dimension[],
  rowsAGroupMin: number,
): ChunkSums | undefined {
  const places = new UsagePlaces();
  const sums = new UsageSums();
  const rows: RowFacts[] = [];
  const rowCount = chunks.reduce((sum, { count }) => sum + count, 0);
  for (const { facts, count } of chunks) {
    const codes = dimensions.map((dimension) => codesOf(facts, dimension, count));
    const groups = places.of(codes, count);
    if (places.groupCount * rowsAGroupMin > rowCount) return undefined;
    sums.addRows(groups, places.groupCount, facts);
    rows.push({ groups, facts });
  }
  return { met: places.met(), sums, times: TimeCounts.of(rows, places.groupCount) };
}
