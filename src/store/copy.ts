/** Copies a ledger from SQLite to PostgreSQL: it goes on where it was interrupted, and is proven at its end. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Act, eventOf } from "../audit/act.js";
import { failpoint } from "../base/failpoint.js";
import { AUDIT_HEAD, type AuditHead, MOVE_AUDIT_HEAD } from "./audit-rows.js";
import { DATABASE_NAME, noDatabase } from "./data-directory.js";
import { appendAudit } from "./postgres/audit.js";
import { Postgres, type Session } from "./postgres/connection.js";
import { UnusableDatabase } from "./postgres/failure.js";
import { COPY_BEGUN, COPY_TABLE, migrate } from "./postgres/migration.js";
import { MIGRATIONS } from "./postgres/schema.js";
import { BLOCK_SEQUENCES } from "./postgres/book-reader.js";
import { sql } from "./postgres/sql.js";
import { verifyDatabase } from "./postgres/verify.js";
import { Sqlite } from "./sqlite/binding.js";
import { openSqliteFile } from "./sqlite/database-file.js";
import type { VerifyReport } from "./store.js";

interface CopiedTable {
  readonly table: string;
  readonly key: readonly string[];
  /** Where it lies beside the ledger's own: a file of the data directory, and the columns as PostgreSQL has them. */
  readonly beside?: { readonly file: string; readonly rows: string };
  /** How many of its rows go at once, where they are large. */
  readonly rowsAtOnce?: number;
}

/** A claim of a node that is no more. */
const ANSWERS = `(SELECT id, account_id, request_id, '' AS node_id, '1970-01-01T00:00:00Z' AS claim_time, print, record,
  record_bytes, record_until_ms, until_ms FROM answer)`;
const CHUNKS = `(SELECT id, row_count, from_ms, to_ms, sealed, stripped, facts, texts FROM chunk
  JOIN chunk_part USING (id) JOIN chunk_text USING (id))`;

/** What is copied, in the order of its keys. Nodes and their probe belong to a place, and no open hold is anybody's. */
const TABLES: readonly CopiedTable[] = [
  { table: "account", key: ["id"] },
  { table: "key", key: ["id"] },
  { table: "key_use", key: ["key_id"] },
  { table: "operator_cost", key: ["subject", "bucket"] },
  { table: "operator_total", key: ["kind", "shard"] },
  { table: "budget", key: ["owner", "owner_id", "period", "bucket"] },
  { table: "usage_day", key: ["day", "account_id", "key_id", "model"] },
  { table: "usage_day_meter", key: ["day", "account_id", "key_id", "model", "unit", "variant"] },
  { table: "accepted_loss", key: ["number"] },
  { table: "open_hold", key: ["hold_sequence"] },
  { table: "checkpoint", key: ["hold_sequence"] },
  { table: "release", key: ["hold_sequence"] },
  { table: "lease", key: ["id"] },
  { table: "audit_event", key: ["sequence"] },
  { table: "gateway_user", key: ["id"] },
  { table: "membership", key: ["account_id", "user_id"] },
  { table: "session", key: ["id"] },
  { table: "link", key: ["id"] },
  { table: "known_address", key: ["user_id", "address"] },
  { table: "second_factor", key: ["user_id"] },
  { table: "recovery_code", key: ["user_id", "digest"] },
  { table: "passkey", key: ["id"] },
  { table: "passkey_challenge", key: ["digest"] },
  { table: "oidc_identity", key: ["issuer", "subject"] },
  { table: "oidc_used", key: ["digest"] },
  { table: "account_security", key: ["account_id"] },
  { table: "top_up_code", key: ["id"] },
  { table: "payment", key: ["id"] },
  { table: "payment_refund", key: ["id"] },
  { table: "payment_dispute", key: ["id"] },
  { table: "payment_booking", key: ["payment_id", "number"] },
  { table: "stripe_event", key: ["id"] },
  { table: "playground_key", key: ["user_id", "account_id"] },
  { table: "archive", key: ["number"] },
  { table: "archive_account", key: ["account_id"] },
  { table: "archive_day", key: ["day", "account_id", "key_id", "model"] },
  { table: "archive_day_meter", key: ["day", "account_id", "key_id", "model", "unit", "variant"] },
  { table: "archive_kept", key: ["sequence"] },
  { table: "transfer", key: ["sequence"] },
  { table: "alert", key: ["id"] },
  { table: "settings_object", key: ["kind", "name"] },
  { table: "settings_revision", key: ["revision"] },
  { table: "price_list", key: ["revision"] },
  { table: "price_snapshot", key: ["id"] },
  { table: "alert_state", key: ["alert_id", "subject"] },
  { table: "webhook", key: ["id"] },
  { table: "event_count", key: ["id"] },
  { table: "event", key: ["sequence"] },
  { table: "delivery", key: ["id"] },
  { table: "delivery_attempt", key: ["delivery_id", "number"] },
  { table: "answer", key: ["id"], beside: { file: "answers.db", rows: ANSWERS }, rowsAtOnce: 20 },
  { table: "record_chunk", key: ["id"], beside: { file: "records.db", rows: CHUNKS }, rowsAtOnce: 4 },
  { table: "content_key", key: ["account_id"], beside: { file: "content.db", rows: "content_key" } },
  { table: "request_content", key: ["id"], beside: { file: "content.db", rows: "request_content" }, rowsAtOnce: 20 },
];
const ROWS_AT_ONCE = 500;

const COLUMNS = sql(`SELECT column_name FROM information_schema.columns
  WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`);
const COPIED = sql(`SELECT table_name, rows, last_key FROM ${COPY_TABLE}`);
const NOTE = sql(`INSERT INTO ${COPY_TABLE} (table_name, rows, last_key) VALUES ($1, $2, $3)
  ON CONFLICT (table_name) DO UPDATE SET rows = excluded.rows, last_key = excluded.last_key`);
/** Those that come later have ids of their own. */
const NEXT_CHUNK = sql(`SELECT setval(pg_get_serial_sequence('record_chunk', 'id'), max(id)) FROM record_chunk`);
const ACCOUNTS = sql("SELECT count(*) AS count FROM account");

export interface CopyOptions {
  /** The data directory. No gateway may have it open. */
  readonly directory: string;
  readonly witnessPath: string | undefined;
  readonly url: string;
  /** Recorded in the new database, once it is proven. */
  readonly act: Act;
  /** Derived from the root secret that the keys were made with. */
  readonly keyCheck: string;
  onProgress(table: string, copied: number, total: number): void;
}

interface Progress {
  readonly table_name: string;
  readonly rows: bigint;
  readonly last_key: string;
}

/** Rejects with an Error of one line. A report that does not hold says why; then the database is not served. */
export async function copyStore({
  directory,
  witnessPath,
  url,
  act,
  keyCheck,
  onProgress,
}: CopyOptions): Promise<VerifyReport> {
  if (!existsSync(join(directory, DATABASE_NAME))) throw new Error(noDatabase(directory));
  const file = openSqliteFile(directory, undefined, {
    keyCheck: "",
    otherKeyChecks: [],
    acceptLoss: false,
    witnessPath,
    traces: [],
  });
  const source = new Source(directory, file.database);
  try {
    const database = await Postgres.open(url);
    try {
      await migrate(database, MIGRATIONS, keyCheck === "" ? [] : [keyCheck], { isCopying: true });
      await begin(database);
      const copied = new Map((await database.rows<Progress>(COPIED)).map((row) => [row.table_name, row]));
      for (const one of TABLES) await copyTable(source, database, { ...one, from: copied.get(one.table), onProgress });
      return await end(source, database, act);
    } finally {
      await database.close();
    }
  } finally {
    source.close();
    file.close();
  }
}

/** The rows of a data directory, over its files. */
class Source {
  readonly #files = new Map<string, Sqlite | undefined>();

  constructor(
    private readonly directory: string,
    readonly ledger: Sqlite,
  ) {}

  count(table: CopiedTable): number {
    const database = this.#of(table);
    if (database === undefined) return 0;
    return Number(
      database
        .prepare<[], bigint>(`SELECT count(*) FROM ${rowsOf(table)}`)
        .pluck()
        .get() ?? 0n,
    );
  }

  /** The next rows behind a key; the first ones without. */
  read(table: CopiedTable, columns: readonly string[], last: readonly unknown[] | undefined): Row[] {
    const order = table.key.join(", ");
    const after = last === undefined ? "" : `WHERE (${order}) > (${table.key.map(() => "?").join(", ")})`;
    const limit = `ORDER BY ${order} LIMIT ${table.rowsAtOnce ?? ROWS_AT_ONCE}`;
    const text = `SELECT ${columns.join(", ")} FROM ${rowsOf(table)} ${after} ${limit}`;
    return (
      this.#of(table)
        ?.prepare<unknown[], Row>(text)
        .all(...(last ?? [])) ?? []
    );
  }

  close(): void {
    for (const database of this.#files.values()) database?.close();
  }

  /** Undefined where there never was such a file. */
  #of({ beside }: CopiedTable): Sqlite | undefined {
    if (beside === undefined) return this.ledger;
    if (!this.#files.has(beside.file)) {
      const path = join(this.directory, beside.file);
      this.#files.set(beside.file, existsSync(path) ? new Sqlite(path, { readonly: true, bigints: true }) : undefined);
    }
    return this.#files.get(beside.file);
  }
}

type Row = Record<string, unknown>;

function rowsOf({ table, beside }: CopiedTable): string {
  return beside?.rows ?? table;
}

/** A database that somebody already serves from takes no copy. */
function begin(database: Postgres): Promise<void> {
  return database.transact(async (session) => {
    const [begun] = await session.rows<{ found: boolean }>(COPY_BEGUN);
    if (begun?.found === true) return;
    const [accounts] = await session.rows<{ count: bigint }>(ACCOUNTS);
    if (accounts !== undefined && accounts.count > 0n)
      throw new UnusableDatabase(`The database at ${database.place} has accounts: copy to a new and empty one.`);
    await session.script(
      `CREATE TABLE ${COPY_TABLE} (table_name text PRIMARY KEY, rows bigint NOT NULL, last_key text NOT NULL)`,
    );
  });
}

interface TableCopy extends CopiedTable {
  readonly from: Progress | undefined;
  readonly onProgress: CopyOptions["onProgress"];
}

async function copyTable(source: Source, database: Postgres, copy: TableCopy): Promise<void> {
  const { table, key, from, onProgress } = copy;
  const columns = (await database.rows<{ column_name: string }>(COLUMNS, [table])).map((row) => row.column_name);
  const total = source.count(copy);
  let copied = Number(from?.rows ?? 0n);
  let last = from === undefined ? undefined : readKey(from.last_key);
  for (;;) {
    const rows = source.read(copy, columns, last);
    const end = rows.at(-1);
    if (end === undefined) break;
    copied += rows.length;
    const lastKey = key.map((name) => end[name]);
    last = lastKey;
    await database.transact(async (session) => {
      await insert(session, table, columns, rows);
      await session.run(NOTE, [table, copied, writeKey(lastKey)]);
      failpoint("during_commit");
    });
    onProgress(table, copied, total);
  }
}

async function insert(
  session: Session,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  const values = rows.flatMap((row) => columns.map((column) => row[column]));
  const lines = rows.map(
    (_, row) => `(${columns.map((_column, column) => `$${row * columns.length + column + 1}`).join(", ")})`,
  );
  await session.run(
    {
      text: `INSERT INTO ${table} (${columns.join(", ")}) OVERRIDING SYSTEM VALUE VALUES ${lines.join(", ")}`,
      name: "",
    },
    values,
  );
}

/** The same rows are there, and the whole ledger holds: only then may a node serve from it. */
async function end(source: Source, database: Postgres, act: Act): Promise<VerifyReport> {
  const problems: string[] = [];
  for (const copied of TABLES) {
    const { table } = copied;
    const [found] = await database.rows<{ count: bigint }>({
      text: `SELECT count(*) AS count FROM ${table}`,
      name: "",
    });
    const [want, have] = [source.count(copied), Number(found?.count ?? 0n)];
    if (want !== have) problems.push(`The table ${table} has ${have} rows of ${want}.`);
  }
  const newest = Number(
    source.ledger.prepare<[], bigint>("SELECT coalesce(max(sequence), 0) FROM transfer").pluck().get() ?? 0n,
  );
  const [head] = source.ledger.prepare<[], AuditHead>(AUDIT_HEAD).all();
  if (head !== undefined) await database.run(sql(MOVE_AUDIT_HEAD), [head.sequence, head.hash]);
  await database.rows(sql("SELECT setval('transfer_block', $1)"), [Math.floor(newest / BLOCK_SEQUENCES) + 1]);
  await database.rows(NEXT_CHUNK);
  const report = await verifyDatabase(database);
  if (report.holds && problems.length === 0) {
    const event = eventOf(act, { resource: "store/postgres", accountId: "" });
    await database.transact((session) => appendAudit(session, [event]));
    await database.script(`DROP TABLE ${COPY_TABLE}`);
  }
  return { ...report, holds: report.holds && problems.length === 0, problems: [...problems, ...report.problems] };
}

/** Keys are texts, whole numbers and bytes. */
function writeKey(key: readonly unknown[]): string {
  return JSON.stringify(
    key.map((part) => {
      if (part instanceof Uint8Array) return { bytes: Buffer.from(part).toString("hex") };
      return typeof part === "bigint" ? { number: String(part) } : part;
    }),
  );
}

function readKey(text: string): unknown[] {
  const parts: unknown[] = JSON.parse(text);
  return parts.map((part) => {
    if (typeof part !== "object" || part === null) return part;
    if ("bytes" in part) return Buffer.from(String(part.bytes), "hex");
    return "number" in part ? BigInt(String(part.number)) : part;
  });
}
