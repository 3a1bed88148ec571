/** Keys in SQLite. */
import type { TimeCursor } from "../calls.js";
import {
  changeableValues,
  COUNT_KEYS,
  FIRST_KEYS,
  INSERT_KEY,
  KEY,
  KEY_BY_DIGEST,
  KEY_BY_PREVIOUS_DIGEST,
  type KeyColumns,
  type KeyPageParameters,
  KEYS,
  KEYS_OF_ACCOUNT,
  REPLACE_KEY,
  toKey,
} from "../key-rows.js";
import type { AuditEvent } from "../../audit/act.js";
import type { SqliteAudit } from "./audit.js";
import type { Sqlite } from "./binding.js";
import { type KeyRow, KEYS_MAX } from "../store.js";

export class SqliteKeys {
  readonly #insert;
  readonly #get;
  readonly #byDigest;
  readonly #byPreviousDigest;
  readonly #count;
  readonly #list;
  readonly #listOfAccount;
  readonly #replace;

  constructor(
    database: Sqlite,
    private readonly audit: SqliteAudit,
  ) {
    this.#insert = database.prepare(INSERT_KEY);
    this.#get = database.prepare<[string], KeyColumns>(KEY);
    this.#byDigest = database.prepare<[Uint8Array], KeyColumns>(KEY_BY_DIGEST);
    this.#byPreviousDigest = database.prepare<[Uint8Array], KeyColumns>(KEY_BY_PREVIOUS_DIGEST);
    this.#count = database.prepare<[string], bigint>(COUNT_KEYS).pluck();
    this.#list = database.prepare<[KeyPageParameters], KeyColumns>(KEYS);
    this.#listOfAccount = database.prepare<[KeyPageParameters], KeyColumns>(KEYS_OF_ACCOUNT);
    this.#replace = database.prepare(REPLACE_KEY);
  }

  /** In a transaction, as every change here: its record is written with it. */
  create(key: KeyRow, event: AuditEvent): boolean {
    // A secret that still opens another key, as its previous one, is taken too.
    if (this.#byPreviousDigest.get(key.digest) !== undefined) return false;
    if (Number(this.#count.get(key.accountId) ?? 0) >= KEYS_MAX) return false;
    if (this.#insert.run(key.id, ...changeableValues(key)).changes !== 1) return false;
    this.audit.append(event);
    return true;
  }

  get(id: string): KeyRow | undefined {
    return toKey(this.#get.get(id));
  }

  findByDigest(digest: Uint8Array): KeyRow | undefined {
    return toKey(this.#byDigest.get(digest) ?? this.#byPreviousDigest.get(digest));
  }

  list(accountId: string | undefined, count: number, before: TimeCursor | undefined): KeyRow[] {
    const statement = accountId === undefined ? this.#list : this.#listOfAccount;
    const rows = statement.all({ ...(before ?? FIRST_KEYS), count, accountId: accountId ?? "" });
    return rows.flatMap((row) => toKey(row) ?? []);
  }

  replace(key: KeyRow, event: AuditEvent): boolean {
    if (this.#replace.run(...changeableValues(key), key.id, key.revision - 1).changes !== 1) return false;
    this.audit.append(event);
    return true;
  }
}
