/** Chunks of records in a SQLite database of their own: what is slow here is slow for nobody else. */
import { openSideFile } from "../store/sqlite/side-file.js";
import { Sqlite } from "../store/sqlite/binding.js";
import type { ChunkMark, ChunkStore, NewChunk } from "./chunk-store.js";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS chunk (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  row_count INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  sealed INTEGER NOT NULL,
  stripped INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS chunk_time ON chunk (to_ms);
CREATE INDEX IF NOT EXISTS chunk_unsealed ON chunk (to_ms) WHERE sealed = 0;
CREATE INDEX IF NOT EXISTS chunk_unstripped ON chunk (to_ms) WHERE stripped = 0;
CREATE TABLE IF NOT EXISTS chunk_part (
  id INTEGER PRIMARY KEY,
  facts BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS chunk_text (
  id INTEGER PRIMARY KEY,
  texts BLOB NOT NULL
) STRICT;
`;

const LOSS = "lists and sums of requests begin anew, and the ledger keeps each charge";

interface Columns {
  readonly id: number;
  readonly row_count: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly sealed: number;
  readonly stripped: number;
}

/** The caller holds the lock of the directory. */
export function openSqliteChunks(directory: string): ChunkStore {
  // A crash of the machine may take the last second, which is what records may lose.
  const database = openSideFile(directory, { name: "records.db", schema: SCHEMA, loss: LOSS });
  return new SqliteChunks(database);
}

class SqliteChunks implements ChunkStore {
  readonly #insert;
  readonly #insertFacts;
  readonly #insertTexts;
  readonly #delete;
  readonly #deleteFacts;
  readonly #deleteTexts;
  readonly #within;
  readonly #over;
  readonly #unsealed;
  readonly #facts;
  readonly #texts;
  readonly #replace;

  constructor(private readonly database: Sqlite) {
    this.#insert = database
      .prepare<number[], number>(
        "INSERT INTO chunk (row_count, from_ms, to_ms, sealed, stripped) VALUES (?, ?, ?, ?, ?) RETURNING id",
      )
      .pluck();
    this.#insertFacts = database.prepare<[number, Uint8Array]>("INSERT INTO chunk_part (id, facts) VALUES (?, ?)");
    this.#insertTexts = database.prepare<[number, Uint8Array]>("INSERT INTO chunk_text (id, texts) VALUES (?, ?)");
    this.#delete = database.prepare<[number]>("DELETE FROM chunk WHERE id = ?");
    this.#deleteFacts = database.prepare<[number]>("DELETE FROM chunk_part WHERE id = ?");
    this.#deleteTexts = database.prepare<[number]>("DELETE FROM chunk_text WHERE id = ?");
    this.#within = database.prepare<[number, number], Columns>(
      "SELECT * FROM chunk WHERE to_ms >= ? AND from_ms <= ? ORDER BY to_ms DESC, id DESC",
    );
    this.#over = database.prepare<[number, number], Columns>(
      `SELECT * FROM (SELECT * FROM chunk WHERE to_ms < ? ORDER BY to_ms LIMIT 1) UNION ALL
       SELECT * FROM (SELECT * FROM chunk WHERE stripped = 0 AND to_ms < ? ORDER BY to_ms LIMIT 1) LIMIT 1`,
    );
    this.#unsealed = database.prepare<[number], Columns>(
      "SELECT * FROM chunk WHERE sealed = 0 AND to_ms <= ? ORDER BY to_ms, id LIMIT 1000",
    );
    this.#facts = database.prepare<[number], Uint8Array>("SELECT facts FROM chunk_part WHERE id = ?").pluck();
    this.#texts = database.prepare<[number], Uint8Array>("SELECT texts FROM chunk_text WHERE id = ?").pluck();
    this.#replace = database.transaction((ids: readonly number[], chunks: readonly NewChunk[]) => {
      for (const id of ids) {
        if (this.#delete.run(id).changes === 0) throw new Gone();
        this.#deleteFacts.write(id);
        this.#deleteTexts.write(id);
      }
      return chunks.map((chunk) => this.#put(chunk));
    });
  }

  insert(chunk: NewChunk): Promise<number> {
    return Promise.resolve(this.#replace([], [chunk])[0] ?? 0);
  }

  replace(ids: readonly number[], chunks: readonly NewChunk[]): Promise<readonly number[] | undefined> {
    try {
      return Promise.resolve(this.#replace(ids, chunks));
    } catch (error) {
      if (error instanceof Gone) return Promise.resolve(undefined);
      throw error;
    }
  }

  within(fromMs: number, toMs: number): Promise<readonly ChunkMark[]> {
    return Promise.resolve(this.#within.all(fromMs, toMs).map(toMark));
  }

  over(beforeMs: number, refusalsBeforeMs: number): Promise<ChunkMark | undefined> {
    const found = this.#over.get(beforeMs, refusalsBeforeMs);
    return Promise.resolve(found && toMark(found));
  }

  unsealed(beforeMs: number): Promise<readonly ChunkMark[]> {
    return Promise.resolve(this.#unsealed.all(beforeMs).map(toMark));
  }

  facts(id: number): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#facts.get(id));
  }

  texts(id: number): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#texts.get(id));
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    return work();
  }

  close(): Promise<void> {
    this.database.close();
    return Promise.resolve();
  }

  #put({ count, fromMs, toMs, sealed, stripped, facts, texts }: NewChunk): number {
    const id = this.#insert.get(count, fromMs, toMs, Number(sealed), Number(stripped));
    if (id === undefined) throw new Error("a chunk has no id");
    this.#insertFacts.write(id, facts);
    this.#insertTexts.write(id, texts);
    return id;
  }
}

class Gone extends Error {}

function toMark({ id, row_count, from_ms, to_ms, sealed, stripped }: Columns): ChunkMark {
  return { id, count: row_count, fromMs: from_ms, toMs: to_ms, sealed: sealed === 1, stripped: stripped === 1 };
}
