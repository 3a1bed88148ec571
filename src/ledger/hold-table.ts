/** Holds by request id. Thousands are added and removed each second, and none leaves garbage behind. */
import assert from "node:assert";

/** A row knows its position in the table; only the table changes it. */
export interface TableRow<Row> {
  readonly requestId: string;
  /** The next in its bucket, and its neighbours by age. */
  chained?: Row | undefined;
  older?: Row | undefined;
  newer?: Row | undefined;
}

const BUCKETS = 4096;

/**
 * A map in insertion order. A JavaScript Map makes a new table every few entries, and each old table points to the
 * next: the first one in the old generation keeps all later ones alive, with every hold in them, until the next full
 * collection.
 */
export class HoldTable<Row extends TableRow<Row>> {
  readonly #buckets: (Row | undefined)[] = Array.from({ length: BUCKETS });
  #oldest: Row | undefined;
  #newest: Row | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Row | undefined {
    return this.#oldest;
  }

  get(requestId: string): Row | undefined {
    return this.#find(requestId, bucketOf(requestId));
  }

  #find(requestId: string, bucket: number): Row | undefined {
    let row = this.#buckets[bucket];
    while (row !== undefined && row.requestId !== requestId) row = row.chained;
    return row;
  }

  /** False if the request has a row already, which stays. */
  add(row: Row): boolean {
    const bucket = bucketOf(row.requestId);
    if (this.#find(row.requestId, bucket) !== undefined) return false;
    row.chained = this.#buckets[bucket];
    this.#buckets[bucket] = row;
    row.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = row;
    else this.#newest.newer = row;
    this.#newest = row;
    this.#size += 1;
    return true;
  }

  /** The row must be in the table. It points to no other row afterwards. */
  remove(row: Row): void {
    const { chained, older, newer } = row;
    const bucket = bucketOf(row.requestId);
    const first = this.#buckets[bucket];
    if (first === row) this.#buckets[bucket] = chained;
    else {
      let before = first;
      while (before !== undefined && before.chained !== row) before = before.chained;
      assert(before !== undefined, `the hold ${row.requestId} is not in the table`);
      before.chained = chained;
    }
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    row.chained = row.older = row.newer = undefined;
    this.#size -= 1;
  }

  /** The oldest first. */
  *values(): Generator<Row> {
    for (let row = this.#oldest; row !== undefined; row = row.newer) yield row;
  }
}

/** The ids of one process differ most in their last characters. */
function bucketOf(requestId: string): number {
  let hash = requestId.length;
  for (let index = Math.max(0, requestId.length - HASHED_CHARACTERS); index < requestId.length; index += 1)
    hash = (Math.imul(hash, 31) + requestId.charCodeAt(index)) | 0;
  return (hash ^ (hash >>> 12)) & (BUCKETS - 1);
}

const HASHED_CHARACTERS = 16;
