/** Answers with an Idempotency-Key in SQLite: a file of its own, since they are large and die within a day. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AnswerBounds, AnswerRow, AnswerTotals } from "../answer-rows.js";
import { Sqlite } from "./binding.js";
import type { SqliteFile } from "./database-file.js";
import { openSideFile } from "./side-file.js";

export type AnswerChange =
  | { readonly kind: "put"; readonly row: AnswerRow }
  | { readonly kind: "remove"; readonly id: Uint8Array };

interface Columns {
  readonly request_id: string;
  readonly print: Uint8Array;
  readonly record: Uint8Array | null;
}

interface Share {
  readonly account_id: string;
  readonly size: number;
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS answer (
  id BLOB PRIMARY KEY,
  request_id TEXT NOT NULL,
  print BLOB NOT NULL,
  record BLOB,
  record_bytes INTEGER NOT NULL,
  record_until_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS answer_until ON answer (until_ms);
CREATE INDEX IF NOT EXISTS answer_record ON answer (record_until_ms, record_bytes) WHERE record_bytes > 0;
`;
const FILE = {
  name: "answers.db",
  schema: SCHEMA,
  loss: "requests that come again with an Idempotency-Key of the last day are served anew",
};
/** Rows of before they named their account count as one account's. */
const ACCOUNTS = `
CREATE INDEX IF NOT EXISTS answer_account_record ON answer (account_id, record_until_ms, record_bytes)
  WHERE record_bytes > 0;
CREATE INDEX IF NOT EXISTS answer_account ON answer (account_id, until_ms);
`;

/** Throws UnusableData where kept answers are there that cannot be read. The caller holds the lock of the directory. */
export function checkAnswerFile(directory: string): void {
  if (existsSync(join(directory, FILE.name))) openAnswerFile(directory).close();
}

/** The caller holds the lock of the directory. */
export function openAnswerFile(directory: string): SqliteFile {
  // A key is on the disk before its request is charged, even where the power fails: `wal.ts` syncs the log.
  const database = openSideFile(directory, FILE);
  const columns = database.prepare<[], string>("SELECT name FROM pragma_table_info('answer')").pluck().all();
  if (!columns.includes("account_id"))
    database.exec("ALTER TABLE answer ADD COLUMN account_id TEXT NOT NULL DEFAULT ''");
  database.exec(ACCOUNTS);
  return { database, close: () => void database.close() };
}

export class SqliteAnswers {
  readonly #find;
  readonly #put;
  readonly #remove;
  readonly #expireRecords;
  readonly #expireRows;
  readonly #rows;
  readonly #recordBytes;
  readonly #largestRecords;
  readonly #largestRows;
  readonly #oldest;
  readonly #dropRecord;
  readonly #dropRows;
  readonly #write;

  constructor(database: Sqlite) {
    this.#find = database.prepare<[number, Uint8Array, number], Columns>(
      `SELECT request_id, print, iif(record_until_ms > ?, record, NULL) AS record FROM answer
       WHERE id = ? AND until_ms > ?`,
    );
    this.#put = database.prepare(
      `INSERT INTO answer (id, request_id, print, record, record_bytes, record_until_ms, until_ms,
       account_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET request_id = excluded.request_id,
       print = excluded.print, record = excluded.record, record_bytes = excluded.record_bytes,
       record_until_ms = excluded.record_until_ms, until_ms = excluded.until_ms, account_id = excluded.account_id`,
    );
    this.#remove = database.prepare("DELETE FROM answer WHERE id = ?");
    this.#expireRecords = database.prepare(
      "UPDATE answer SET record = NULL, record_bytes = 0 WHERE record_bytes > 0 AND record_until_ms <= ?",
    );
    this.#expireRows = database.prepare("DELETE FROM answer WHERE until_ms <= ?");
    // Two searches of indexes: one of both would read every page of every record.
    this.#rows = database.prepare<[], number>("SELECT count(*) FROM answer").pluck();
    this.#recordBytes = database
      .prepare<[], number>("SELECT coalesce(sum(record_bytes), 0) FROM answer WHERE record_bytes > 0")
      .pluck();
    this.#largestRecords = database.prepare<[], Share>(
      `SELECT account_id, sum(record_bytes) AS size FROM answer WHERE record_bytes > 0 GROUP BY account_id
       ORDER BY size DESC LIMIT 2`,
    );
    this.#largestRows = database.prepare<[], Share>(
      "SELECT account_id, count(*) AS size FROM answer GROUP BY account_id ORDER BY size DESC LIMIT 2",
    );
    this.#oldest = database.prepare<[string], { id: Uint8Array; record_bytes: number }>(
      `SELECT id, record_bytes FROM answer WHERE record_bytes > 0 AND account_id = ?
       ORDER BY record_until_ms LIMIT 1000`,
    );
    this.#dropRecord = database.prepare("UPDATE answer SET record = NULL, record_bytes = 0 WHERE id = ?");
    this.#dropRows = database.prepare(
      "DELETE FROM answer WHERE id IN (SELECT id FROM answer WHERE account_id = ? ORDER BY until_ms LIMIT ?)",
    );
    this.#write = database.transaction((changes: readonly AnswerChange[]) => {
      for (const change of changes) this.#change(change);
    });
  }

  find(id: Uint8Array, nowMs: number): Pick<AnswerRow, "requestId" | "print" | "record"> | undefined {
    const found = this.#find.get(nowMs, id, nowMs);
    return found && { requestId: found.request_id, print: found.print, record: found.record };
  }

  /** All of them in one durable transaction. */
  write(changes: readonly AnswerChange[]): void {
    this.#write(changes);
  }

  /** Forgets what is over its time, then what is over the bounds. */
  sweep(nowMs: number, { recordBytesMax, rowsMax }: AnswerBounds): AnswerTotals {
    this.#expireRows.run(nowMs);
    this.#expireRecords.run(nowMs);
    let rows = this.#rows.get() ?? 0;
    let bytes = this.#recordBytes.get() ?? 0;
    let evicted = 0;
    while (bytes > recordBytesMax) {
      const dropped = this.#shrinkRecords(bytes - recordBytesMax);
      bytes -= dropped.bytes;
      evicted += dropped.count;
      if (dropped.count === 0) break;
    }
    while (rows > rowsMax) {
      const dropped = this.#shrinkRows(rows - rowsMax);
      rows -= dropped;
      if (dropped === 0) break;
    }
    return { rows, recordBytes: bytes, evicted };
  }

  /** Takes the oldest records of the account that has the most, until it has no more than the next. */
  #shrinkRecords(overBytes: number): { readonly bytes: number; readonly count: number } {
    const [largest, next] = this.#largestRecords.all();
    if (largest === undefined) return { bytes: 0, count: 0 };
    // Equal shares do not take turns one by one: each turn counts all of them.
    const above = Math.max(largest.size - (next?.size ?? 0), overBytes / 8);
    let bytes = 0;
    let count = 0;
    for (const oldest of this.#oldest.all(largest.account_id)) {
      if (bytes >= overBytes || (count > 0 && bytes >= above)) break;
      this.#dropRecord.run(oldest.id);
      bytes += oldest.record_bytes;
      count += 1;
    }
    return { bytes, count };
  }

  /** The same of keys. */
  #shrinkRows(over: number): number {
    const [largest, next] = this.#largestRows.all();
    if (largest === undefined) return 0;
    const above = Math.max(largest.size - (next?.size ?? 0), Math.ceil(over / 8));
    return this.#dropRows.run(largest.account_id, Math.min(over, above)).changes;
  }

  #change(change: AnswerChange): void {
    if (change.kind === "remove") {
      this.#remove.run(change.id);
      return;
    }
    const { id, accountId, requestId, print, record, recordUntilMs, untilMs } = change.row;
    this.#put.run(id, requestId, print, record, record?.length ?? 0, recordUntilMs, untilMs, accountId);
  }
}
