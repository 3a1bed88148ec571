/** Content of requests in PostgreSQL, where every node finds that of all. */
import type { Postgres } from "../store/postgres/connection.js";
import { sql } from "../store/postgres/sql.js";
import type { ContentRow, ContentStore, SealedKey } from "./content-store.js";

const PUT = sql(`INSERT INTO request_content (id, account_id, end_user, end_time_ms, byte_count, sealed)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`);
const FIND = sql("SELECT account_id, end_time_ms, sealed FROM request_content WHERE id = $1");
const ERASE = sql(`DELETE FROM request_content WHERE end_user = $1 AND end_user <> ''
  AND ($2::text IS NULL OR account_id = $2)`);
const ERASE_OF = sql("DELETE FROM request_content WHERE id = ANY($1::text[])");
const FORGET_BEFORE = sql(`DELETE FROM request_content WHERE id IN
  (SELECT id FROM request_content WHERE end_time_ms < $1 ORDER BY end_time_ms LIMIT $2)`);
const BYTES = sql("SELECT coalesce(sum(byte_count), 0) AS bytes FROM request_content WHERE account_id = $1");
const FORGET_OLDEST = sql(`DELETE FROM request_content WHERE id IN
  (SELECT id FROM request_content WHERE account_id = $1 ORDER BY end_time_ms LIMIT $2) RETURNING byte_count`);
const KEY = sql("SELECT sealed FROM content_key WHERE account_id = $1");
const KEYS = sql("SELECT account_id, sealed FROM content_key");
const PUT_KEY = sql("INSERT INTO content_key (account_id, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING");
const RESEAL_KEY = sql("UPDATE content_key SET sealed = $1 WHERE account_id = $2 AND sealed = $3");

/** The tables are there. Whoever opened the database closes it. */
export function postgresContents(database: Postgres): ContentStore {
  return new PostgresContents(database);
}

class PostgresContents implements ContentStore {
  constructor(private readonly database: Postgres) {}

  put(rows: readonly ContentRow[]): Promise<void> {
    return this.database.transact(async (session) => {
      for (const { id, accountId, endUser, endTimeMs, sealed } of rows)
        await session.run(PUT, [id, accountId, endUser, endTimeMs, sealed.length, Buffer.from(sealed)]);
    });
  }

  async find(id: string): Promise<Omit<ContentRow, "endUser"> | undefined> {
    const [row] = await this.database.rows<{ account_id: string; end_time_ms: bigint; sealed: Uint8Array }>(FIND, [id]);
    return row && { id, accountId: row.account_id, endTimeMs: Number(row.end_time_ms), sealed: row.sealed };
  }

  erase(accountId: string | undefined, endUser: string): Promise<number> {
    return this.database.run(ERASE, [endUser, accountId ?? null]);
  }

  eraseOf(ids: readonly string[]): Promise<number> {
    return this.database.run(ERASE_OF, [ids]);
  }

  forgetBefore(timeMs: number, count: number): Promise<number> {
    return this.database.run(FORGET_BEFORE, [timeMs, count]);
  }

  async bytesOf(accountId: string): Promise<number> {
    const [row] = await this.database.rows<{ bytes: bigint }>(BYTES, [accountId]);
    return Number(row?.bytes ?? 0n);
  }

  async forgetOldest(accountId: string, count: number): Promise<number> {
    const rows = await this.database.rows<{ byte_count: bigint }>(FORGET_OLDEST, [accountId, count]);
    return rows.reduce((sum, row) => sum + Number(row.byte_count), 0);
  }

  async key(accountId: string): Promise<Uint8Array | undefined> {
    const [row] = await this.database.rows<{ sealed: Uint8Array }>(KEY, [accountId]);
    return row?.sealed;
  }

  async keys(): Promise<readonly SealedKey[]> {
    const rows = await this.database.rows<{ account_id: string; sealed: Uint8Array }>(KEYS);
    return rows.map((row) => ({ accountId: row.account_id, sealed: row.sealed }));
  }

  async putKey({ accountId, sealed }: SealedKey): Promise<void> {
    await this.database.run(PUT_KEY, [accountId, Buffer.from(sealed)]);
  }

  async resealKey({ accountId, sealed }: SealedKey, before: Uint8Array): Promise<void> {
    await this.database.run(RESEAL_KEY, [Buffer.from(sealed), accountId, Buffer.from(before)]);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
