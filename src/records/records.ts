/**
 * Records of requests: written behind, in batches, so that no request waits for them, and asked for by those who want
 * to know what happened.
 */
import type { SealKeys } from "../alerts/seal.js";
import { GatewayError, isLedgerUnavailable } from "../base/errors.js";
import { protectedSecrets } from "../base/redaction.js";
import type { RecordRow } from "./columns.js";
import { ContentQueue } from "./content-queue.js";
import type { KeptContent } from "./content-vault.js";
import type { ListCursor, Retention } from "./engine.js";
import type { RecordFilter } from "./filter.js";
import { QuestionTurns } from "./question-turns.js";
import { type LeftOut, RefusalBounds } from "./refusal-bounds.js";
import type { Erased, RecordCaller, RecordPlace } from "./record-calls.js";
import { rowOfEnded } from "./record-row.js";
import { RecordThread } from "./record-thread.js";
import type { EndedRequest } from "./request-record.js";
import { BatchBuilder, numbersOf, rowsOf } from "./row-batch.js";
import { groupsOf, type UsageGroup } from "./usage-groups.js";
import { GROUPS_MAX } from "./usage-places.js";
import type { TimeSpan, UsageAsk, UsageSnapshot } from "./usage-snapshot.js";

/**
 * How often what ended goes to the thread, and what waits for that at most. A crash may lose a second, so there is time
 * for a late turn of the event loop, and for the thread to write it.
 */
const FLUSH_MS = 250;
const WAITING_ROWS_MAX = 20_000;
/** Batches that the thread has not stored yet. */
const BATCHES_MAX = 8;
/** Whoever shows no key is nobody, and there may be any number of them: so many a second are stored. */
const STRANGERS_A_SECOND_MAX = 50;
const SWEEP_MS = 60_000;
/** Another process that stores nothing for so long has ended. */
const LEFT_MS = 900_000;

export interface RecordsOptions {
  readonly place: RecordPlace;
  /** Asks the thread of another process, which has opened the place. Absent: one of this process does. */
  readonly caller?: RecordCaller | undefined;
  /** The node that records. Absent: it has no name. */
  readonly nodeId?: string;
  readonly retention: Retention;
  /** How long content is kept, and what seals it. */
  readonly content: SealKeys & { readonly keptMs: number };
  readonly nowMs: () => number;
  /**
   * Resolves once the ledger has what was settled before, or does not take it now: no record tells of a charge that a
   * crash takes back. Absent: nothing is waited for.
   */
  readonly settled?: (() => Promise<unknown>) | undefined;
  /**
   * Called with how many records were dropped: `bounded` are refusals above what is kept of a caller, `lost` could not
   * be stored.
   */
  readonly onDropped: (count: number, cause: "bounded" | "lost") => void;
  /** Called once records are stored again, with those that could not be since it worked last. */
  readonly onLost?: ((lost: LostRecords) => void) | undefined;
  /** Called once a minute with those whose refusals came too often to leave a record each; they count as dropped. */
  readonly onRefusalsLeftOut: (leftOut: LeftOut) => void;
  /** The same as `onDropped` of content. */
  readonly onContentDropped: (count: number) => void;
  readonly onError: (error: unknown) => void;
}

export interface LostRecords {
  readonly count: number;
  /** Those whose request was charged: the ledger has them, and a record can be made of each. */
  readonly chargedCount: number;
  /** When the first of them ended. */
  readonly sinceMs: number;
}

const NOTHING_LOST: LostRecords = { count: 0, chargedCount: 0, sinceMs: Infinity };

export interface SnapshotGroups extends Pick<UsageSnapshot, "states"> {
  /** One list for each question. */
  readonly groups: readonly (readonly UsageGroup[])[];
}

export class Records {
  readonly #builder = new BatchBuilder();
  readonly #contents = new ContentQueue();
  readonly #turns = new QuestionTurns();
  /** How many of the secrets in force the thread knows. */
  #toldSecrets = 0;
  readonly #timers: NodeJS.Timeout[];
  #storing = 0;
  /** Until what ended has gone to the thread. */
  #handing: Promise<unknown> = Promise.resolve();
  #strangers = { second: 0, count: 0 };
  readonly #refusals: RefusalBounds;
  #lost = NOTHING_LOST;
  #afterLoss: ((sinceMs: number) => void) | undefined;
  #sweeping = false;
  #isClosed = false;

  private constructor(
    private readonly thread: RecordCaller,
    private readonly options: RecordsOptions,
  ) {
    this.#refusals = new RefusalBounds(options.onRefusalsLeftOut);
    this.#timers = [
      setInterval(() => void this.#flush(), FLUSH_MS).unref(),
      setInterval(() => void this.sweep(), SWEEP_MS).unref(),
    ];
    // What an earlier process left in small pieces is put together at once where nobody else could be writing it.
    const beforeMs = this.#isShared ? options.nowMs() - LEFT_MS : Number.MAX_SAFE_INTEGER;
    this.thread.call("joinLeft", beforeMs).catch(options.onError);
  }

  /** Rejects where the place cannot be opened. */
  static async open(options: RecordsOptions): Promise<Records> {
    const { place, content, caller } = options;
    const { keys, previous } = content;
    const contentKeys = { keys, previous };
    return new Records(caller ?? (await RecordThread.start({ place, contentKeys })), options);
  }

  /** True where other processes store records too. */
  get #isShared(): boolean {
    return "url" in this.options.place || this.options.caller !== undefined;
  }

  /** What was admitted before this is not kept any more. */
  get keptSinceMs(): number {
    return this.options.nowMs() - this.options.retention.recordsMs;
  }

  /** Takes an ended request. Never waits. */
  add(request: EndedRequest): void {
    if (!this.#mayKeep(request)) return this.options.onDropped(1, "bounded");
    if (this.#builder.count >= WAITING_ROWS_MAX)
      return this.#lose([request.endTimeMs], [Number(request.answer?.chargedNanos ?? 0n)]);
    this.#builder.push(rowOfEnded(request, this.options.nodeId));
    if (request.content !== undefined && !this.#contents.add(request)) this.options.onContentDropped(1);
  }

  /** Calls back each time that records are stored again after some were lost, with when the first of those ended. */
  afterLoss(act: (sinceMs: number) => void): void {
    this.#afterLoss = act;
  }

  /** What ended before the question is in the answer. */
  async list(filter: RecordFilter, count: number, after: ListCursor | undefined): Promise<readonly RecordRow[]> {
    return rowsOf(await this.#ask(() => this.thread.call("list", filter, count, after), filter.names.account));
  }

  /** All of the same records, each in the order of its values, and what names the records of some times. */
  async usage(asked: readonly UsageAsk[], spans: readonly TimeSpan[]): Promise<SnapshotGroups> {
    const account = asked[0]?.filter.names.account;
    const told = await this.#ask(() => this.thread.call("usage", asked, spans), account);
    if (told !== undefined) return { groups: told.tables.map(groupsOf), states: told.states };
    const problem = `makes more than ${GROUPS_MAX} groups; ask for a shorter time, or filter`;
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "group_by", problem });
  }

  /** `account` is whose question it is; absent for operators and for our own. */
  find(id: string, account?: string): Promise<RecordRow | undefined> {
    return this.#ask(() => this.thread.call("find", id), account);
  }

  /** Those of the ids that have a record. */
  known(ids: readonly string[]): Promise<readonly string[]> {
    return this.#ask(() => this.thread.call("known", ids));
  }

  /** Stores those of the requests of the ledger that have no record, within this time. */
  adopt(rows: readonly RecordRow[], fromMs: number, toMs: number): Promise<number> {
    return this.#ask(() => this.thread.call("adopt", rows, fromMs, toMs));
  }

  /** What was kept of what a request and its answer said; undefined where nothing was. */
  content(id: string): Promise<KeptContent | undefined> {
    return this.#ask(() => this.thread.call("content", id));
  }

  erase(account: string | undefined, endUser: string): Promise<Erased> {
    return this.#ask(() => this.thread.call("erase", account, endUser));
  }

  /** Forgets what is over its time, one piece after the other, so that whoever asks meanwhile waits for one at most. */
  async sweep(): Promise<void> {
    if (this.#sweeping) return;
    this.#sweeping = true;
    try {
      while (await this.thread.call("sweepOne", this.options.nowMs(), this.options.retention));
      while (await this.thread.call("sweepContent", this.options.nowMs() - this.options.content.keptMs));
      if (this.#isShared) await this.thread.call("joinLeft", this.options.nowMs() - LEFT_MS);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.#sweeping = false;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#refusals.tell();
    await this.#flush();
    await this.thread.close();
  }

  /** Never rejects: what cannot be stored is counted. */
  #flush(): Promise<unknown> {
    return Promise.all([this.#flushRecords(), this.#flushContents()]);
  }

  /** What is there as it closes has no later turn. */
  get #mustWait(): boolean {
    return this.#storing >= BATCHES_MAX && !this.#isClosed;
  }

  async #flushRecords(): Promise<void> {
    if (this.#builder.count === 0 || this.#mustWait) return;
    const batch = this.#builder.take();
    this.#storing += 1;
    const settled = this.options.settled?.();
    // Without its value, which would keep those of all flushes before.
    const before = this.#handing.then(() => undefined);
    this.#handing = Promise.all([before, settled]);
    try {
      if (settled !== undefined) await settled;
      await this.thread.call("append", batch);
      this.#tellLost();
    } catch (error) {
      this.#lose(numbersOf(batch, "endTimeMs"), numbersOf(batch, "chargedNanos"));
      this.options.onError(error);
    } finally {
      this.#storing -= 1;
    }
    if (!this.#isClosed) this.thread.call("joinTails").catch(this.options.onError);
  }

  #lose(endTimesMs: readonly number[], chargedNanos: readonly number[]): void {
    this.options.onDropped(endTimesMs.length, "lost");
    const { count, chargedCount, sinceMs } = this.#lost;
    this.#lost = {
      count: count + endTimesMs.length,
      chargedCount: chargedCount + chargedNanos.filter((nanos) => nanos > 0).length,
      sinceMs: Math.min(sinceMs, ...endTimesMs),
    };
  }

  #tellLost(): void {
    const lost = this.#lost;
    if (lost.count === 0) return;
    this.#lost = NOTHING_LOST;
    this.options.onLost?.(lost);
    if (lost.chargedCount > 0) this.#afterLoss?.(lost.sinceMs);
  }

  async #flushContents(): Promise<void> {
    if (this.#contents.isEmpty || this.#mustWait) return;
    const contents = this.#contents.take();
    const secrets = protectedSecrets();
    const fresh = secrets.slice(this.#toldSecrets);
    this.#toldSecrets = secrets.length;
    this.#storing += 1;
    try {
      await this.thread.call("keepContent", contents, fresh);
    } catch (error) {
      this.options.onContentDropped(contents.length);
      this.options.onError(error);
    } finally {
      this.#storing -= 1;
    }
  }

  async #ask<Result>(question: () => Promise<Result>, account = ""): Promise<Result> {
    // The thread takes one after the other, so what goes before the question is stored before it.
    void this.#flush();
    try {
      await this.#handing;
      return await this.#turns.run(account, question);
    } catch (cause) {
      if (cause instanceof GatewayError && !isLedgerUnavailable(cause)) throw cause;
      if (!this.#isClosed) this.options.onError(cause);
      const problem = "records of requests cannot be read";
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem }, { cause });
    }
  }

  #mayKeep(request: EndedRequest): boolean {
    const { asker, failure, answer, endTimeMs } = request;
    if (asker === undefined) return this.#mayTakeStranger(request);
    // What money was set aside for is told whatever became of it.
    if (failure === undefined || answer !== undefined) return true;
    return this.#refusals.mayKeep(asker.accountId || asker.keyId, endTimeMs);
  }

  #mayTakeStranger({ endTimeMs }: EndedRequest): boolean {
    const second = Math.floor(endTimeMs / 1_000);
    if (this.#strangers.second !== second) this.#strangers = { second, count: 0 };
    return (this.#strangers.count += 1) <= STRANGERS_A_SECOND_MAX;
  }
}
