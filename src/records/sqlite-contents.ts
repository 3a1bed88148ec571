/** Content of requests in SQLite: a file of its own, since it is large and dies within days. */
import type { Sqlite } from "../store/sqlite/binding.js";
import { openSideFile } from "../store/sqlite/side-file.js";
import type { ContentRow, ContentStore, SealedKey } from "./content-store.js";

const SCHEMA = `
CREATE TABLE IF NOT EXISTS request_content (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  end_user TEXT NOT NULL,
  end_time_ms INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  sealed BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS request_content_time ON request_content (end_time_ms);
CREATE INDEX IF NOT EXISTS request_content_account ON request_content (account_id, end_time_ms, byte_count);
CREATE INDEX IF NOT EXISTS request_content_user ON request_content (end_user) WHERE end_user <> '';
CREATE TABLE IF NOT EXISTS content_key (
  account_id TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT;
`;

const LOSS = "what was kept of the words of requests and answers is gone";

interface Columns {
  readonly id: string;
  readonly account_id: string;
  readonly end_time_ms: number;
  readonly sealed: Uint8Array;
}

/** The caller holds the lock of the directory. */
export function openSqliteContents(directory: string): ContentStore {
  return new SqliteContents(openSideFile(directory, { name: "content.db", schema: SCHEMA, loss: LOSS }));
}

class SqliteContents implements ContentStore {
  readonly #put;
  readonly #find;
  readonly #erase;
  readonly #eraseOf;
  readonly #forgetBefore;
  readonly #bytesOf;
  readonly #forgetOldest;
  readonly #key;
  readonly #keys;
  readonly #putKey;
  readonly #resealKey;

  constructor(private readonly database: Sqlite) {
    const insert = database.prepare<[string, string, string, number, number, Uint8Array]>(
      `INSERT INTO request_content (id, account_id, end_user, end_time_ms, byte_count, sealed)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#put = database.transaction((rows: readonly ContentRow[]) => {
      for (const { id, accountId, endUser, endTimeMs, sealed } of rows)
        insert.write(id, accountId, endUser, endTimeMs, sealed.length, sealed);
    });
    this.#find = database.prepare<[string], Columns>(
      "SELECT id, account_id, end_time_ms, sealed FROM request_content WHERE id = ?",
    );
    this.#erase = database.prepare<[string, string | null, string | null]>(
      "DELETE FROM request_content WHERE end_user = ? AND end_user <> '' AND (? IS NULL OR account_id = ?)",
    );
    const eraseOne = database.prepare<[string]>("DELETE FROM request_content WHERE id = ?");
    this.#eraseOf = database.transaction((ids: readonly string[]) =>
      ids.reduce((count, id) => count + eraseOne.run(id).changes, 0),
    );
    this.#forgetBefore = database.prepare<[number, number]>(
      `DELETE FROM request_content WHERE id IN
       (SELECT id FROM request_content WHERE end_time_ms < ? ORDER BY end_time_ms LIMIT ?)`,
    );
    this.#bytesOf = database
      .prepare<[string], number>("SELECT coalesce(sum(byte_count), 0) FROM request_content WHERE account_id = ?")
      .pluck();
    this.#forgetOldest = database
      .prepare<[string, number], number>(
        `DELETE FROM request_content WHERE id IN (SELECT id FROM request_content WHERE account_id = ?
         ORDER BY end_time_ms LIMIT ?) RETURNING byte_count`,
      )
      .pluck();
    this.#key = database.prepare<[string], Uint8Array>("SELECT sealed FROM content_key WHERE account_id = ?").pluck();
    this.#keys = database.prepare<[], { account_id: string; sealed: Uint8Array }>("SELECT * FROM content_key");
    this.#putKey = database.prepare<[string, Uint8Array]>(
      "INSERT INTO content_key VALUES (?, ?) ON CONFLICT DO NOTHING",
    );
    this.#resealKey = database.prepare<[Uint8Array, string, Uint8Array]>(
      "UPDATE content_key SET sealed = ? WHERE account_id = ? AND sealed = ?",
    );
  }

  put(rows: readonly ContentRow[]): Promise<void> {
    this.#put(rows);
    return Promise.resolve();
  }

  find(id: string): Promise<Omit<ContentRow, "endUser"> | undefined> {
    const row = this.#find.get(id);
    const found = row && { id, accountId: row.account_id, endTimeMs: row.end_time_ms, sealed: row.sealed };
    return Promise.resolve(found);
  }

  erase(accountId: string | undefined, endUser: string): Promise<number> {
    return Promise.resolve(this.#erase.run(endUser, accountId ?? null, accountId ?? null).changes);
  }

  eraseOf(ids: readonly string[]): Promise<number> {
    return Promise.resolve(this.#eraseOf(ids));
  }

  forgetBefore(timeMs: number, count: number): Promise<number> {
    return Promise.resolve(this.#forgetBefore.run(timeMs, count).changes);
  }

  bytesOf(accountId: string): Promise<number> {
    return Promise.resolve(this.#bytesOf.get(accountId) ?? 0);
  }

  forgetOldest(accountId: string, count: number): Promise<number> {
    return Promise.resolve(this.#forgetOldest.all(accountId, count).reduce((sum, bytes) => sum + bytes, 0));
  }

  key(accountId: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.#key.get(accountId));
  }

  keys(): Promise<readonly SealedKey[]> {
    return Promise.resolve(this.#keys.all().map((row) => ({ accountId: row.account_id, sealed: row.sealed })));
  }

  putKey({ accountId, sealed }: SealedKey): Promise<void> {
    this.#putKey.write(accountId, sealed);
    return Promise.resolve();
  }

  resealKey({ accountId, sealed }: SealedKey, before: Uint8Array): Promise<void> {
    this.#resealKey.write(sealed, accountId, before);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.database.close();
    return Promise.resolve();
  }
}
