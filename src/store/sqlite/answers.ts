/** Answers with an Idempotency-Key, behind a thread of their own that starts with the first of them. */
import { residentBytes } from "../../base/bytes/own-copies.js";
import { GatewayError } from "../../base/errors.js";
import type { AnswerBounds, AnswerRow, AnswerTotals } from "../answer-rows.js";
import type { AnswerChange, SqliteAnswers } from "./answer-file.js";
import { SqliteThread } from "./thread.js";

export interface AnswersOptions {
  /** The store's own directory, which must be open. */
  readonly directory: string;
  readonly nowMs: () => number;
  /** Called after each sweep, and where one failed. */
  readonly onSwept: (totals: AnswerTotals) => void;
  readonly onError: (error: unknown) => void;
  readonly bounds?: AnswerBounds;
}

interface Waiting {
  readonly change: AnswerChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const SWEEP_MS = 60_000;
const WAITING_MAX = 4_096;
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
/** One transaction takes no more than so many, and nothing more behind so many bytes. */
const BATCH_MAX = 64;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
/** After so many bytes the bounds are looked at before the minute is over. */
const SWEEP_BYTES = 64 * 1024 * 1024;
const BOUNDS: AnswerBounds = { recordBytesMax: 1024 * 1024 * 1024, rowsMax: 1_000_000 };

export class Answers {
  #thread: Promise<SqliteThread<SqliteAnswers>> | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #unsweptBytes = 0;
  #writing = false;
  #sweeper: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(private readonly options: AnswersOptions) {}

  async find(id: Uint8Array): Promise<Pick<AnswerRow, "requestId" | "print" | "record"> | undefined> {
    const thread = await this.#open();
    return thread.call("find", id, this.options.nowMs());
  }

  put(row: AnswerRow): Promise<void> {
    return this.#submit({ kind: "put", row });
  }

  remove(id: Uint8Array): Promise<void> {
    return this.#submit({ kind: "remove", id });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
  }

  async #open(): Promise<SqliteThread<SqliteAnswers>> {
    if (this.#closed) throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping" });
    this.#thread ??= this.#start();
    try {
      return await this.#thread;
    } catch (cause) {
      throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
    }
  }

  async #start(): Promise<SqliteThread<SqliteAnswers>> {
    const { directory, onError } = this.options;
    const thread = await SqliteThread.start<SqliteAnswers>({ kind: "answers", directory }, onError);
    const sweep = (): void => void this.#sweep(thread).catch(onError);
    this.#sweeper = setInterval(sweep, SWEEP_MS).unref();
    sweep();
    return thread;
  }

  async #sweep(thread: SqliteThread<SqliteAnswers>): Promise<void> {
    this.options.onSwept(await thread.call("sweep", this.options.nowMs(), this.options.bounds ?? BOUNDS));
  }

  #submit(change: AnswerChange): Promise<void> {
    const isFull = this.#waiting.length >= WAITING_MAX || this.#waitingBytes >= WAITING_BYTES_MAX;
    if (isFull) {
      return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "stored answers are behind" }));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#waitingBytes += bytesOf(change);
      if (!this.#writing) void this.#drain();
    });
  }

  /** Changes that come while one transaction is written share the next one. */
  async #drain(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        const thread = await this.#open();
        const changes = batch.map(({ change }) => change);
        await thread.call("write", changes);
        for (const { resolve } of batch) resolve();
        this.#sweepSoon(thread, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = false;
  }

  #nextBatch(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { change } of this.#waiting) {
      if (count >= BATCH_MAX || bytes >= BATCH_BYTES_MAX) break;
      bytes += bytesOf(change);
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  #sweepSoon(thread: SqliteThread<SqliteAnswers>, batch: readonly Waiting[]): void {
    for (const { change } of batch) this.#unsweptBytes += bytesOf(change);
    if (this.#unsweptBytes < SWEEP_BYTES) return;
    this.#unsweptBytes = 0;
    this.#sweep(thread).catch(this.options.onError);
  }
}

function bytesOf(change: AnswerChange): number {
  return change.kind === "put" && change.row.record ? residentBytes(change.row.record) : 0;
}
