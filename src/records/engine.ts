/** Stores records in chunks and answers questions about them, in a thread of its own. */
import { type Chunk, ChunkBuilder, columnOf, encodeChunk, type Part, rowOf, textAt, valueAt } from "./chunk.js";
import { ChunkSumsCache } from "./chunk-sums.js";
import type { ChunkMark, ChunkStore, NewChunk } from "./chunk-store.js";
import { requestTime } from "../base/request-time.js";
import { type ErasedPerson, erasedIn, idsOf } from "./erasure.js";
import { FLAG, ID_AHEAD_MS, type RecordRow, REQUEST_MS_MAX } from "./columns.js";
import { type RecordFilter, isRefused, type Test, testOf } from "./filter.js";
import { PartReader, type ReadMark } from "./part-reader.js";
import { BatchBuilder, type RowBatch } from "./row-batch.js";
import { ListedTexts } from "./text-list.js";
import type { UsageTable } from "./usage-scan.js";
import { endsOf, stateOf, tableOf, type TimeSpan, type UsageAsk, type UsageSnapshot } from "./usage-snapshot.js";

/** A chunk that many, and as many tails, are put together. */
const SEALED_ROWS = 16_384;
const TAILS_MAX = 64;
/** How often all chunks of a time are read anew, because one of them was put together with others meanwhile. */
const READS_MAX = 4;
/** Later than any record. A database takes no infinity. */
const EVER_MS = Number.MAX_SAFE_INTEGER;
const NO_PART: Part = { columns: new Map(), texts: new ListedTexts([]) };
/** Whom a request was for, and what may tell it. */
const PERSONAL: ReadonlySet<string> = new Set(["endUser", "tags", "session", "clientRequestId", "address"]);

/** Where a page of a list ended: the newest first, and of one millisecond by id. */
export interface ListCursor {
  readonly timeMs: number;
  readonly id: string;
}

export interface Retention {
  readonly recordsMs: number;
  readonly refusalsMs: number;
}

/** A chunk of this process that is put together with others once they are many. */
interface Tail {
  readonly id: number;
  readonly count: number;
}

export class Engine {
  readonly #parts: PartReader;
  #tails: Tail[] = [];
  /** Stored, and not shown to those who ask yet. */
  readonly #unseen = new Set<number>();

  /** `between` is awaited before each chunk that a call looks at, so that others may store meanwhile. */
  constructor(
    private readonly store: ChunkStore,
    private readonly sums = new ChunkSumsCache(),
    private readonly between: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.#parts = new PartReader(store);
  }

  async append(batch: RowBatch): Promise<void> {
    this.show(await this.keep(batch));
    await this.joinTails();
  }

  /** Stores a batch, also while another call runs, which does not see it: nobody does before it is shown. */
  async keep(batch: RowBatch): Promise<Tail> {
    const builder = new ChunkBuilder(batch.count);
    builder.pushBatch(batch);
    const chunk = builder.build();
    const { count } = chunk;
    const id = await this.store.insert(asNew(chunk, false, false));
    this.#unseen.add(id);
    this.#parts.keepFacts(id, chunk.facts, count * 64);
    return { id, count };
  }

  /** Shows what was stored to whoever asks from now on. */
  show(tail: Tail): void {
    this.#unseen.delete(tail.id);
    this.#tails.push(tail);
  }

  /** Puts small chunks together where they are many. */
  async joinTails(): Promise<void> {
    const tails = this.#tails;
    const rows = tails.reduce((sum, { count }) => sum + count, 0);
    if (rows < SEALED_ROWS && tails.length < TAILS_MAX) return;
    const sealed = rows >= SEALED_ROWS / 2;
    this.#tails = [];
    const joined = await this.#join(tails, sealed);
    if (!sealed && joined !== undefined) this.#tails.push(joined);
  }

  /** The newest first, after the cursor, at most `count`. */
  list(filter: RecordFilter, count: number, after: ListCursor | undefined): Promise<RecordRow[]> {
    return this.#atOnce(() => this.#list(filter, count, after));
  }

  async #list(filter: RecordFilter, count: number, after: ListCursor | undefined): Promise<RecordRow[]> {
    const began = filter.id === undefined ? undefined : requestTime(filter.id);
    const fromMs = Math.max(filter.fromMs, (began ?? 0) - ID_AHEAD_MS);
    const toMs = Math.min(
      filter.toMs,
      after?.timeMs ?? EVER_MS,
      began === undefined ? EVER_MS : began + REQUEST_MS_MAX,
    );
    const marks = await this.#within(fromMs, toMs);
    let found: { readonly timeMs: number; readonly row: RecordRow }[] = [];
    for (const mark of marks) {
      // All that is left is older than what a page needs.
      const last = found[count - 1];
      if (last !== undefined && last.timeMs > mark.toMs) break;
      const chunk = await this.#present(mark, filter.id !== undefined);
      const passes = testOf(chunk, filter);
      if (passes === undefined) continue;
      const keys = keysByTime(chunk, passes, after);
      if (keys.length === 0) continue;
      const whole = await this.#withTexts(mark, chunk);
      // More than a page of one chunk is not read, but for those of the moment at which it ends.
      let [taken, boundMs] = [0, -Infinity];
      for (let at = keys.length - 1; at >= 0; at--) {
        const key = keys[at] ?? 0;
        const row = key % chunk.count;
        const timeMs = chunk.fromMs + (key - row) / chunk.count;
        if (timeMs < boundMs) break;
        if (after !== undefined && timeMs === after.timeMs && textAt(whole.texts, "id", row) >= after.id) continue;
        found.push({ timeMs, row: rowOf(whole, row) });
        if (++taken === count) boundMs = timeMs;
      }
      found = found.sort((a, b) => b.timeMs - a.timeMs || (a.row.id < b.row.id ? 1 : -1)).slice(0, count);
    }
    return found.map(({ row }) => row);
  }

  /** Answers all of them of the same records, and names the records of some times. */
  usage(asked: readonly UsageAsk[], spans: readonly TimeSpan[]): Promise<UsageSnapshot> {
    const all = [...asked.map(({ filter }) => filter), ...spans].map(endsOf);
    return this.#atOnce(async () => {
      const fromMs = Math.min(...all.map((one) => one.fromMs));
      const marks = await this.#within(fromMs, Math.max(...all.map((one) => one.toMs)));
      const tables: UsageTable[] = [];
      const read = (mark: ChunkMark, needsTexts: boolean): Promise<Chunk> => this.#present(mark, needsTexts);
      for (const one of asked) tables.push(await tableOf(one, marks, read, this.sums));
      return { tables, states: spans.map((span) => stateOf(marks, span)) };
    });
  }

  /** Those of the ids that have a record. */
  async known(ids: readonly string[]): Promise<readonly string[]> {
    const known: string[] = [];
    for (const id of ids) if ((await this.find(id)) !== undefined) known.push(id);
    return known;
  }

  /** Looks where a request of this id can be. What is no id of ours was never one, and nothing is read for it. */
  async find(id: string): Promise<RecordRow | undefined> {
    const began = requestTime(id);
    return began === undefined ? undefined : this.#atOnce(() => this.#findAfter(began, id));
  }

  async #findAfter(began: number, id: string): Promise<RecordRow | undefined> {
    for (const mark of await this.#within(began - ID_AHEAD_MS, began + REQUEST_MS_MAX)) {
      const chunk = await this.#present(mark, true);
      const place = chunk.texts.texts.placeOf(id);
      if (place < 0) continue;
      const ids = columnOf(chunk.texts, "id");
      for (let row = 0; row < chunk.count; row++) if (valueAt(ids, row) === place) return rowOf(chunk, row);
    }
    return undefined;
  }

  /** Stores those of the rows that are not there, and says how many. They all ended within the time. */
  async adopt(rows: readonly RecordRow[], fromMs: number, toMs: number): Promise<number> {
    const adopted = await this.store.alone(async () => {
      const known = await this.#idsWithin(fromMs - REQUEST_MS_MAX, toMs + REQUEST_MS_MAX);
      if (known === undefined) return 0;
      const builder = new BatchBuilder();
      for (const row of rows) if (!known.has(row.id)) builder.push(row);
      const { count } = builder;
      if (count > 0) await this.append(builder.take());
      return count;
    });
    return adopted ?? 0;
  }

  /**
   * Takes out of all records of an account, or of all, whom they were for. Returns how many that were. `forget` is
   * called with the ids of some of them before that.
   */
  async erase(
    account: string | undefined,
    person: ErasedPerson,
    forget?: (ids: readonly string[]) => Promise<void>,
  ): Promise<number> {
    let erased = 0;
    for (const mark of await this.#within(0, EVER_MS)) {
      const chunk = await this.#chunk(mark, person.session !== undefined);
      const passes = chunk && erasedIn(chunk, account, person);
      if (chunk === undefined || passes === undefined) continue;
      let count = 0;
      for (let row = 0; row < chunk.count; row++) if (passes(row)) count += 1;
      if (count === 0) continue;
      const whole = await this.#chunk(mark, true);
      if (whole === undefined) continue;
      await forget?.(idsOf(whole, passes));
      const builder = new ChunkBuilder(whole.count);
      builder.pushChunk(
        whole,
        () => true,
        (row, name) => (PERSONAL.has(name) && passes(row) ? "" : undefined),
      );
      const made = await this.#replace([mark], builder.build(), mark.sealed, mark.stripped);
      if (made === undefined) continue;
      erased += count;
      // One that is put together with others later has another id now.
      this.#tails = this.#tails.filter(({ id }) => id !== mark.id);
    }
    return erased;
  }

  /** Forgets one chunk that is over its time, or the refusals in it. False where there is none. */
  async sweepOne(nowMs: number, { recordsMs, refusalsMs }: Retention): Promise<boolean> {
    const mark = await this.store.over(nowMs - recordsMs, nowMs - refusalsMs);
    if (mark === undefined || this.#unseen.has(mark.id)) return false;
    if (mark.toMs < nowMs - recordsMs) {
      await this.#forget([mark], []);
      return true;
    }
    const chunk = await this.#chunk(mark, true);
    if (chunk === undefined) return true;
    const builder = new ChunkBuilder(chunk.count);
    builder.pushChunk(chunk, (row) => !isRefused(chunk.facts, row));
    await this.#replace([mark], builder.build(), mark.sealed, true);
    return true;
  }

  /** Puts together what processes that ended left in small chunks. */
  async joinLeft(beforeMs: number): Promise<void> {
    const left = (await this.store.unsealed(beforeMs)).filter(({ id }) => !this.#isOwn(id));
    for (let at = 0; at < left.length;) {
      const some: ChunkMark[] = [];
      for (let rows = 0; at < left.length && rows < SEALED_ROWS; at++) {
        const mark = left[at];
        if (mark === undefined) break;
        some.push(mark);
        rows += mark.count;
      }
      await this.#join(some, true);
    }
  }

  close(): Promise<void> {
    return this.store.close();
  }

  #isOwn(id: number): boolean {
    return this.#unseen.has(id) || this.#tails.some((tail) => tail.id === id);
  }

  async #within(fromMs: number, toMs: number): Promise<readonly ChunkMark[]> {
    const marks = await this.store.within(fromMs, toMs);
    return this.#unseen.size === 0 ? marks : marks.filter(({ id }) => !this.#unseen.has(id));
  }

  /**
   * The ids of all records that may have ended within the time, those as well that are not shown yet. Undefined where
   * other processes put chunks together faster than they are read here: what stood in those is known to nobody here.
   */
  async #idsWithin(fromMs: number, toMs: number): Promise<ReadonlySet<string> | undefined> {
    for (let tries = 0; tries < READS_MAX; tries++) {
      const ids = new Set<string>();
      const marks = await this.store.within(fromMs, toMs);
      let read = 0;
      for (const mark of marks) {
        const chunk = await this.#chunk(mark, true);
        if (chunk === undefined) break;
        for (let row = 0; row < chunk.count; row++) ids.add(textAt(chunk.texts, "id", row));
        read += 1;
      }
      if (read === marks.length) return ids;
    }
    return undefined;
  }

  /** Undefined where another process put one of them together with others. */
  async #join(marks: readonly Tail[], sealed: boolean): Promise<Tail | undefined> {
    const builder = new ChunkBuilder(marks.reduce((sum, { count }) => sum + count, 0));
    for (const { id, count } of marks) {
      const chunk = await this.#chunk({ id, count, fromMs: 0, toMs: 0 }, true);
      if (chunk !== undefined) builder.pushChunk(chunk);
    }
    const chunk = builder.build();
    const [id] = (await this.#replace(marks, chunk, sealed, false)) ?? [];
    return id === undefined ? undefined : { id, count: chunk.count };
  }

  #replace(
    marks: readonly Pick<ChunkMark, "id">[],
    chunk: Chunk,
    sealed: boolean,
    stripped: boolean,
  ): Promise<readonly number[] | undefined> {
    return this.#forget(marks, chunk.count === 0 ? [] : [asNew(chunk, sealed, stripped)]);
  }

  async #forget(
    marks: readonly Pick<ChunkMark, "id">[],
    instead: readonly NewChunk[],
  ): Promise<readonly number[] | undefined> {
    const ids = marks.map(({ id }) => id);
    const made = await this.store.replace(ids, instead);
    for (const id of ids) {
      this.#parts.remove(id);
      this.sums.remove(id);
    }
    return made;
  }

  /** Reads chunks of one moment: anew where another process put one of them together with others meanwhile. */
  async #atOnce<Result>(read: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++)
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof ChunkGone) || tries === READS_MAX) throw error;
      }
  }

  /** Throws ChunkGone. */
  async #present(mark: ReadMark, needsTexts: boolean): Promise<Chunk> {
    const chunk = await this.#chunk(mark, needsTexts);
    if (chunk === undefined) throw new ChunkGone();
    return chunk;
  }

  /** Undefined where it is gone: another one took its place, or it was over its time. */
  async #chunk(mark: ReadMark, needsTexts: boolean): Promise<Chunk | undefined> {
    await this.between();
    const facts = await this.#parts.read(mark, "facts");
    const texts = needsTexts ? await this.#parts.read(mark, "texts") : NO_PART;
    const { count, fromMs, toMs } = mark;
    return facts && texts && { count, fromMs, toMs, facts, texts };
  }

  /** Throws ChunkGone. */
  #withTexts(mark: ReadMark, chunk: Chunk): Promise<Chunk> {
    return chunk.texts === NO_PART ? this.#present(mark, true) : Promise.resolve(chunk);
  }
}

/** A chunk was there when a question began, and is not any more. */
class ChunkGone extends Error {}

/** One number for each row that passes, in the order of their times: the time since the chunk's first, and the row. */
function keysByTime({ facts, count, fromMs }: Chunk, passes: Test, after: ListCursor | undefined): Float64Array {
  const times = columnOf(facts, "endTimeMs");
  const keys = new Float64Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) {
    const timeMs = valueAt(times, row);
    if ((after === undefined || timeMs <= after.timeMs) && passes(row)) keys[found++] = (timeMs - fromMs) * count + row;
  }
  return keys.subarray(0, found).sort();
}

function asNew(chunk: Chunk, sealed: boolean, stripped: boolean): NewChunk {
  return { ...encodeChunk(chunk), sealed, stripped };
}

/** What a record says of a request that only the ledger knows. */
export const ADOPTED = FLAG.adopted | FLAG.answered;
