/** Keys in SQLite. */
import type { TimeCursor } from "../calls.js";
import {
  changeableValues,
  COUNT_KEYS,
  INSERT_KEY,
  KEY,
  KEY_BY_DIGEST,
  KEY_BY_PREVIOUS_DIGEST,
  type KeyColumns,
  REPLACE_KEY,
  toKey,
} from "../key-rows.js";
import type { AuditEvent } from "../../audit/act.js";
import type { SqliteAudit } from "./audit.js";
import { type KeyFilter, type KeyQuery, keyQuery } from "../key-list.js";
import type { Sqlite, Statement } from "./binding.js";
import { type KeyRow, KEYS_MAX } from "../store.js";

export class SqliteKeys {
  readonly #insert;
  readonly #get;
  readonly #byDigest;
  readonly #byPreviousDigest;
  readonly #count;
  /** One for each combination of filters, of which there are few. */
  readonly #lists = new Map<string, Statement<[KeyQuery["values"]], KeyColumns>>();
  readonly #replace;

  constructor(
    private readonly database: Sqlite,
    private readonly audit: SqliteAudit,
  ) {
    this.#insert = database.prepare(INSERT_KEY);
    this.#get = database.prepare<[string], KeyColumns>(KEY);
    this.#byDigest = database.prepare<[Uint8Array], KeyColumns>(KEY_BY_DIGEST);
    this.#byPreviousDigest = database.prepare<[Uint8Array], KeyColumns>(KEY_BY_PREVIOUS_DIGEST);
    this.#count = database.prepare<[string], bigint>(COUNT_KEYS).pluck();
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

  list(filter: KeyFilter, count: number, before: TimeCursor | undefined): KeyRow[] {
    const { text, values } = keyQuery(filter, count, before);
    let statement = this.#lists.get(text);
    if (statement === undefined) {
      statement = this.database.prepare<[KeyQuery["values"]], KeyColumns>(text);
      this.#lists.set(text, statement);
    }
    return statement.all(values).flatMap((row) => toKey(row) ?? []);
  }

  replace(key: KeyRow, event: AuditEvent): boolean {
    if (this.#replace.run(...changeableValues(key), key.id, key.revision - 1).changes !== 1) return false;
    this.audit.append(event);
    return true;
  }
}
