/** Answers with an Idempotency-Key in SQLite: a file of its own, since they are large and die within a day. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { privateFile, type Sqlite, type SqliteFile } from "./sqlite-file.js";

/** One key, and the sealed answer of its request; a null record means that there is none, or not any more. */
export interface AnswerRow {
  readonly id: Uint8Array;
  readonly requestId: string;
  readonly print: Uint8Array;
  readonly record: Uint8Array | null;
  readonly recordUntilMs: number;
  readonly untilMs: number;
}

export type AnswerChange =
  | { readonly kind: "put"; readonly row: AnswerRow }
  | { readonly kind: "remove"; readonly id: Uint8Array };

/** How much is kept. Above it the oldest records go first; their keys stay. */
export interface AnswerBounds {
  readonly recordBytesMax: number;
  readonly rowsMax: number;
}

/** What is kept now. */
export interface AnswerTotals {
  readonly rows: number;
  readonly recordBytes: number;
  /** Records that went before their time, for want of room. */
  readonly evicted: number;
}

interface Columns {
  readonly request_id: string;
  readonly print: Buffer;
  readonly record: Buffer | null;
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

/** The caller holds the lock of the directory. */
export function openAnswerFile(directory: string): SqliteFile {
  const database = new Database(privateFile(join(directory, "answers.db")));
  database.pragma("journal_mode = WAL");
  // A key is on the disk before its request is charged, even where the power fails: `sqlite-desk.ts` syncs the log.
  database.pragma("synchronous = NORMAL");
  database.pragma("trusted_schema = OFF");
  // What was forgotten is not left in the file.
  database.pragma("secure_delete = ON");
  database.pragma("journal_size_limit = 67108864");
  database.exec(SCHEMA);
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
      `INSERT INTO answer (id, request_id, print, record, record_bytes, record_until_ms, until_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET request_id = excluded.request_id,
       print = excluded.print, record = excluded.record, record_bytes = excluded.record_bytes,
       record_until_ms = excluded.record_until_ms, until_ms = excluded.until_ms`,
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
    this.#oldest = database.prepare<[], { id: Buffer; record_bytes: number }>(
      "SELECT id, record_bytes FROM answer WHERE record_bytes > 0 ORDER BY record_until_ms LIMIT 1000",
    );
    this.#dropRecord = database.prepare("UPDATE answer SET record = NULL, record_bytes = 0 WHERE id = ?");
    this.#dropRows = database.prepare(
      "DELETE FROM answer WHERE id IN (SELECT id FROM answer ORDER BY until_ms LIMIT ?)",
    );
    this.#write = database.transaction((changes: readonly AnswerChange[]) => {
      for (const change of changes) this.#change(change);
    });
  }

  find(id: Uint8Array, nowMs: number): Omit<AnswerRow, "id" | "recordUntilMs" | "untilMs"> | undefined {
    const found = this.#find.get(nowMs, id, nowMs);
    return found && { requestId: found.request_id, print: found.print, record: found.record };
  }

  /** All of them in one durable transaction. */
  write(changes: readonly AnswerChange[]): void {
    this.#write.immediate(changes);
  }

  /** Forgets what is over its time, then what is over the bounds. */
  sweep(nowMs: number, { recordBytesMax, rowsMax }: AnswerBounds): AnswerTotals {
    this.#expireRows.run(nowMs);
    this.#expireRecords.run(nowMs);
    let rows = this.#rows.get() ?? 0;
    let bytes = this.#recordBytes.get() ?? 0;
    let evicted = 0;
    if (bytes > recordBytesMax) {
      for (const oldest of this.#oldest.all()) {
        if (bytes <= recordBytesMax) break;
        this.#dropRecord.run(oldest.id);
        bytes -= oldest.record_bytes;
        evicted += 1;
      }
    }
    if (rows > rowsMax) rows -= this.#dropRows.run(rows - rowsMax).changes;
    return { rows, recordBytes: bytes, evicted };
  }

  #change(change: AnswerChange): void {
    if (change.kind === "remove") {
      this.#remove.run(change.id);
      return;
    }
    const { id, requestId, print, record, recordUntilMs, untilMs } = change.row;
    this.#put.run(id, requestId, print, record, record?.length ?? 0, recordUntilMs, untilMs);
  }
}
