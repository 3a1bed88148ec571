/** Chunks of records in PostgreSQL, where every node finds those of all, over connections of their own. */
import { Postgres } from "../store/postgres/connection.js";
import { sql } from "../store/postgres/sql.js";
import type { ChunkMark, ChunkStore, NewChunk } from "./chunk-store.js";
import type { ContentStore } from "./content-store.js";
import { postgresContents } from "./postgres-contents.js";

interface Columns {
  readonly id: bigint;
  readonly row_count: bigint;
  readonly from_ms: bigint;
  readonly to_ms: bigint;
  readonly sealed: boolean;
  readonly stripped: boolean;
}

const MARKS = "SELECT id, row_count, from_ms, to_ms, sealed, stripped FROM record_chunk";
const INSERT = sql(`INSERT INTO record_chunk (row_count, from_ms, to_ms, sealed, stripped, facts, texts)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`);
const DELETE = sql("DELETE FROM record_chunk WHERE id = ANY($1::bigint[])");
const WITHIN = sql(`${MARKS} WHERE to_ms >= $1 AND from_ms <= $2 ORDER BY to_ms DESC, id DESC`);
const OVER = sql(`(${MARKS} WHERE to_ms < $1 ORDER BY to_ms LIMIT 1) UNION ALL
  (${MARKS} WHERE NOT stripped AND to_ms < $2 ORDER BY to_ms LIMIT 1) LIMIT 1`);
const UNSEALED = sql(`${MARKS} WHERE NOT sealed AND to_ms <= $1 ORDER BY to_ms, id LIMIT 1000`);
const FACTS = sql("SELECT facts AS bytes FROM record_chunk WHERE id = $1");
const TEXTS = sql("SELECT texts AS bytes FROM record_chunk WHERE id = $1");
const LOCK = sql("SELECT pg_try_advisory_xact_lock($1) AS locked");
/** One number for all nodes. */
const RECORDS_LOCK = 0x54_4c_47_52;
const WORK_MS = 60_000;

/**
 * Records and content over the same connections, which the chunks close. Rejects with an Error of one line where the
 * database cannot be used. Its tables are there.
 */
export async function openPostgresRecords(
  url: string,
): Promise<{ readonly chunks: ChunkStore; readonly contents: ContentStore }> {
  const database = await Postgres.open(url);
  return { chunks: new PostgresChunks(database), contents: postgresContents(database) };
}

class PostgresChunks implements ChunkStore {
  constructor(private readonly database: Postgres) {}

  async insert(chunk: NewChunk): Promise<number> {
    const [row] = await this.database.rows<{ id: bigint }>(INSERT, valuesOf(chunk));
    return Number(row?.id ?? 0n);
  }

  replace(ids: readonly number[], chunks: readonly NewChunk[]): Promise<readonly number[] | undefined> {
    return this.database
      .transact(async (session) => {
        if ((await session.run(DELETE, [ids])) !== ids.length) throw new Gone();
        const made: number[] = [];
        for (const chunk of chunks) {
          const [row] = await session.rows<{ id: bigint }>(INSERT, valuesOf(chunk));
          made.push(Number(row?.id ?? 0n));
        }
        return made;
      })
      .catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      });
  }

  async within(fromMs: number, toMs: number): Promise<readonly ChunkMark[]> {
    return (await this.database.rows<Columns>(WITHIN, [fromMs, toMs])).map(toMark);
  }

  async over(beforeMs: number, refusalsBeforeMs: number): Promise<ChunkMark | undefined> {
    const [row] = await this.database.rows<Columns>(OVER, [beforeMs, refusalsBeforeMs]);
    return row && toMark(row);
  }

  async unsealed(beforeMs: number): Promise<readonly ChunkMark[]> {
    return (await this.database.rows<Columns>(UNSEALED, [beforeMs])).map(toMark);
  }

  facts(id: number): Promise<Uint8Array | undefined> {
    return this.#bytes(FACTS, id);
  }

  texts(id: number): Promise<Uint8Array | undefined> {
    return this.#bytes(TEXTS, id);
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    return this.database.transact(
      async (session) => {
        const [lock] = await session.rows<{ locked: boolean }>(LOCK, [RECORDS_LOCK]);
        return lock?.locked === true ? work() : undefined;
      },
      { statementMs: WORK_MS },
    );
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async #bytes(statement: typeof FACTS, id: number): Promise<Uint8Array | undefined> {
    const [row] = await this.database.rows<{ bytes: Uint8Array }>(statement, [id]);
    return row?.bytes;
  }
}

class Gone extends Error {}

/** The way to the database may have put it into an error of its own. */
function isGone(error: unknown): boolean {
  return error instanceof Gone || (error instanceof Error && isGone(error.cause));
}

function valuesOf({ count, fromMs, toMs, sealed, stripped, facts, texts }: NewChunk): unknown[] {
  return [count, fromMs, toMs, sealed, stripped, Buffer.from(facts), Buffer.from(texts)];
}

function toMark({ id, row_count, from_ms, to_ms, sealed, stripped }: Columns): ChunkMark {
  return {
    id: Number(id),
    count: Number(row_count),
    fromMs: Number(from_ms),
    toMs: Number(to_ms),
    sealed,
    stripped,
  };
}
