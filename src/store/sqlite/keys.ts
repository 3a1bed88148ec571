/** Keys in SQLite. */
import { digestOf } from "../digest.js";
import type { TimeCursor } from "./calls.js";
import { toTimeMs } from "./columns.js";
import type { Sqlite } from "./binding.js";
import type { KeyRow } from "../store.js";
import { placeholders } from "../token-columns.js";

interface KeyColumns {
  readonly id: string;
  readonly account_id: string;
  readonly maker_id: string | null;
  readonly settings: Uint8Array;
  readonly digest: Uint8Array;
  readonly previous_digest: Uint8Array | null;
  readonly previous_until_ms: bigint | null;
  readonly hint: string;
  readonly create_time_ms: bigint;
  readonly revoke_time_ms: bigint | null;
  readonly revision: bigint;
}

const NEWEST_FIRST = "(create_time_ms, id) < (:timeMs, :id) ORDER BY create_time_ms DESC, id DESC LIMIT :count";

type PageParameters = TimeCursor & { readonly count: number; readonly accountId: string };

/** Before the first row: no time is later. */
const FIRST_PAGE: TimeCursor = { timeMs: Number.MAX_SAFE_INTEGER, id: "" };

export class SqliteKeys {
  readonly #insert;
  readonly #get;
  readonly #byDigest;
  readonly #byPreviousDigest;
  readonly #list;
  readonly #listOfAccount;
  readonly #replace;

  constructor(database: Sqlite) {
    this.#insert = database.prepare(
      `INSERT INTO key (id, account_id, settings, digest, previous_digest, previous_until_ms, hint, create_time_ms,
       revoke_time_ms, revision, maker_id, row_digest) VALUES (${placeholders(12)}) ON CONFLICT DO NOTHING`,
    );
    this.#get = database.prepare<[string], KeyColumns>("SELECT * FROM key WHERE id = ?");
    this.#byDigest = database.prepare<[Uint8Array], KeyColumns>("SELECT * FROM key WHERE digest = ?");
    this.#byPreviousDigest = database.prepare<[Uint8Array], KeyColumns>(
      "SELECT * FROM key WHERE previous_digest = ? ORDER BY previous_until_ms DESC LIMIT 1",
    );
    this.#list = database.prepare<[PageParameters], KeyColumns>(`SELECT * FROM key WHERE ${NEWEST_FIRST}`);
    this.#listOfAccount = database.prepare<[PageParameters], KeyColumns>(
      `SELECT * FROM key WHERE account_id = :accountId AND ${NEWEST_FIRST}`,
    );
    this.#replace = database.prepare(
      `UPDATE key SET account_id = ?, settings = ?, digest = ?, previous_digest = ?, previous_until_ms = ?, hint = ?,
       create_time_ms = ?, revoke_time_ms = ?, revision = ?, maker_id = ?, row_digest = ?
       WHERE id = ? AND revision = ?`,
    );
  }

  create(key: KeyRow): boolean {
    // A secret that still opens another key, as its previous one, is taken too.
    if (this.#byPreviousDigest.get(key.digest) !== undefined) return false;
    return this.#insert.run(key.id, ...changeable(key)).changes === 1;
  }

  get(id: string): KeyRow | undefined {
    return toKey(this.#get.get(id));
  }

  findByDigest(digest: Uint8Array): KeyRow | undefined {
    return toKey(this.#byDigest.get(digest) ?? this.#byPreviousDigest.get(digest));
  }

  list(accountId: string | undefined, count: number, before: TimeCursor | undefined): KeyRow[] {
    const statement = accountId === undefined ? this.#list : this.#listOfAccount;
    const rows = statement.all({ ...(before ?? FIRST_PAGE), count, accountId: accountId ?? "" });
    return rows.flatMap((row) => toKey(row) ?? []);
  }

  replace(key: KeyRow): boolean {
    return this.#replace.run(...changeable(key), key.id, key.revision - 1).changes === 1;
  }
}

/** The digest behind them is over all of the row, so that the proof finds a setting that was changed. */
function changeable(key: KeyRow): unknown[] {
  const values = [
    key.accountId,
    key.settings,
    key.digest,
    key.previousDigest,
    key.previousUntilMs,
    key.hint,
    key.createTimeMs,
    key.revokeTimeMs,
    key.revision,
  ];
  // Rows of a schema that kept no maker say nothing of one, so that they fit their digests for ever.
  const made = key.makerId === null ? [] : [key.makerId];
  return [...values, key.makerId, digestOf(key.id, ...values, ...made)];
}

function toKey(row: KeyColumns | undefined): KeyRow | undefined {
  if (row === undefined) return undefined;
  return {
    id: row.id,
    accountId: row.account_id,
    makerId: row.maker_id,
    settings: row.settings,
    digest: row.digest,
    previousDigest: row.previous_digest,
    previousUntilMs: toTimeMs(row.previous_until_ms),
    hint: row.hint,
    createTimeMs: Number(row.create_time_ms),
    revokeTimeMs: toTimeMs(row.revoke_time_ms),
    revision: Number(row.revision),
  };
}
