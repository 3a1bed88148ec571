/** The batches of one node's ledger, one after the other: each is one transaction, whole or not at all. */
import assert from "node:assert";
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEvent } from "../../audit/act.js";
import { GatewayError } from "../../base/errors.js";
import { failpoint } from "../../base/failpoint.js";
import type { LedgerOperation, LedgerResult } from "../../ledger/operation.js";
import { decide, endNodeLeases } from "../../ledger/state.js";
import { appendAudit } from "./audit.js";
import { BookReader } from "./book-reader.js";
import { writeBook } from "./book-writer.js";
import type { Postgres, Session } from "./connection.js";
import { refusalOf } from "./failure.js";
import { sql } from "./sql.js";

/** How many shards the operator's totals have: nodes that share one wait for each other, and for nothing else. */
const SHARDS = 64;
/** How often a batch whose commit was not answered, and that is not there, runs again. */
const UNANSWERED_MAX = 3;
/** How long after a lost connection the database may take to be there again, and how often it is asked. */
const ASK_AGAIN_MS = [20, 50, 100, 200, 500, 1_000, 1_000, 1_000, 1_000];

const STATEMENTS = {
  /** No row where the epoch is another: somebody took this writer for dead, and resolved what it left. */
  begin: sql(`INSERT INTO writer (id, epoch, batch) VALUES ($1, $2, $3)
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch WHERE writer.epoch = excluded.epoch`),
  /**
   * Waits for the transaction whose end nobody heard of, where the server still has it. It writes, so that it waits for
   * a writer's first as well, whose row no other sees yet. No row where the epoch is another.
   */
  last: sql(`INSERT INTO writer (id, epoch, batch) VALUES ($1, $2, 0)
    ON CONFLICT (id) DO UPDATE SET batch = writer.batch WHERE writer.epoch = excluded.epoch RETURNING batch`),
  end: sql("DELETE FROM writer WHERE id = $1"),
} as const;

export class Batches {
  readonly #database: Postgres;
  readonly #reader = new BookReader();
  readonly #writerId: string;
  readonly #epoch = 0;
  readonly #shard: number;
  /** Counts every try, so that no two have the same number. */
  #tries = 0;
  /** The batch before: the next begins once it has ended. */
  #before: Promise<unknown> = Promise.resolve();

  constructor(database: Postgres, writerId: string) {
    this.#database = database;
    this.#writerId = writerId;
    this.#shard = hash("sha256", writerId, "buffer").readUInt32BE() % SHARDS;
  }

  commit(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]> {
    const batch = this.#before.then(() => this.#commit(operations));
    this.#before = batch.catch(() => undefined);
    return batch;
  }

  /** What a batch would answer now. Nothing is written or locked. */
  preview(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]> {
    const work = async (session: Session): Promise<readonly LedgerResult[]> => {
      const book = await this.#reader.look(session, operations);
      endNodeLeases(book);
      return operations.map((operation) => decide(book, operation));
    };
    return this.#database.transact(work, { snapshot: true });
  }

  /** Decides and writes operations at the end of a transaction, with the records of what it did before. */
  async within(
    session: Session,
    operations: readonly LedgerOperation[],
    events: readonly AuditEvent[] = [],
    begun: Promise<void> = Promise.resolve(),
  ): Promise<readonly LedgerResult[]> {
    // Both are on their way; nothing is written before both have gone well, and neither goes on behind the other's end.
    const [begin, reading] = await Promise.allSettled([begun, this.#reader.lock(session, operations)]);
    if (begin.status === "rejected") throw begin.reason;
    if (reading.status === "rejected") throw reading.reason;
    const book = reading.value;
    const results = operations.map((operation) => decide(book, operation));
    this.#reader.learn(book);
    await writeBook(session, book, this.#shard);
    await appendAudit(session, [...events, ...book.events]);
    return results;
  }

  /** After the last batch: nobody asks for this writer's any more. */
  async close(): Promise<void> {
    await this.#before;
    await this.#database.run(STATEMENTS.end, [this.#writerId]).catch(() => undefined);
  }

  async #commit(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]> {
    try {
      failpoint("before_commit");
      const results = await this.#committed(operations);
      failpoint("after_commit");
      return results;
    } catch (error) {
      throw refusalOf(error);
    }
  }

  async #committed(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]> {
    for (let left = UNANSWERED_MAX - 1; ; left -= 1) {
      let written: readonly LedgerResult[] | undefined;
      try {
        await this.#database.commit(async (session) => {
          written = undefined;
          const results = await this.within(session, operations, [], this.#begin(session));
          failpoint("during_commit");
          written = results;
        });
        assert(written !== undefined, "a batch that was committed has its answers");
        return written;
      } catch (error) {
        const refusal = refusalOf(error);
        if (written === undefined || refusal.reason !== "ERROR_REASON_LEDGER_UNAVAILABLE") throw refusal;
        // All was written, and nobody knows whether it was committed.
        if (await this.#wasCommitted(refusal)) return written;
        if (left === 0) throw refusal;
      }
    }
  }

  /** Each batch begins here: under the writer's own lock, in its epoch, with a number that says which it is. */
  async #begin(session: Session): Promise<void> {
    this.#tries += 1;
    const begun = await session.run(STATEMENTS.begin, [this.#writerId, this.#epoch, this.#tries]);
    if (begun === 0) {
      const cause = new Error("another node took this one for dead");
      throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
    }
  }

  /** Rejects with the refusal where the database does not come back in time: then nobody knows. */
  async #wasCommitted(refusal: GatewayError): Promise<boolean> {
    const number = this.#tries;
    for (const pauseMs of ASK_AGAIN_MS) {
      try {
        const ask = (session: Session) =>
          session.rows<{ batch: bigint }>(STATEMENTS.last, [this.#writerId, this.#epoch]);
        const [row] = await this.#database.commit(ask);
        return row?.batch === BigInt(number);
      } catch {
        await sleep(pauseMs);
      }
    }
    throw refusal;
  }
}
