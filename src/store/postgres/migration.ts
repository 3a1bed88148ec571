/** Brings a PostgreSQL to the newest schema, once for all nodes that start, and says which programs it serves. */
import { UnusableDatabase } from "./failure.js";
import { checkFit } from "./fit.js";
import type { Postgres, Session } from "./connection.js";
import { checkSteps, stepDigests } from "../schema-steps.js";
import type { PostgresMigration } from "./schema.js";
import { sql } from "./sql.js";

/** A step may have to wait for what runs, and rewrite a table. */
const MIGRATION_MS = 600_000;
/** One number for all nodes: whoever has the lock is the only one that migrates. */
const LOCK = 0x54_4c_47_50;

const VERSION_TABLE = `CREATE TABLE IF NOT EXISTS tollgate_schema (
  id BIGINT PRIMARY KEY CHECK (id = 1),
  version BIGINT NOT NULL,
  serves_version BIGINT NOT NULL,
  serves_program TEXT NOT NULL,
  key_check TEXT NOT NULL,
  steps TEXT[] NOT NULL
)`;
/** Reads the catalog's tables: what a session keeps of the catalog in memory may be older than its snapshot. */
const TABLES = sql(`SELECT count(*) AS count, count(*) FILTER (WHERE relname = 'tollgate_schema') > 0 AS found
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = current_schema() AND relkind IN ('r', 'p', 'v')`);
/** While a copy is written: how far it has come. */
export const COPY_TABLE = "tollgate_copy";
export const COPY_BEGUN =
  sql(`SELECT count(*) > 0 AS found FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = current_schema() AND relname = '${COPY_TABLE}'`);
/** The steps are read by way of JSON since builds before the first release had no such column. */
const VERSION = sql(`SELECT version, serves_version, serves_program, key_check,
  coalesce(to_jsonb(tollgate_schema) ->> 'steps', '[]') AS steps FROM tollgate_schema`);
const SET_VERSION = sql(`INSERT INTO tollgate_schema (id, version, serves_version, serves_program, key_check, steps)
  VALUES (1, $1, $2, $3, '', $4) ON CONFLICT (id) DO UPDATE SET version = excluded.version,
  serves_version = excluded.serves_version, serves_program = excluded.serves_program, steps = excluded.steps`);
const SET_KEY_CHECK = sql("UPDATE tollgate_schema SET key_check = $1 WHERE key_check = ANY($2::text[])");

interface TableCount {
  readonly count: bigint;
  readonly found: boolean;
}

interface VersionColumns {
  readonly version: bigint;
  readonly serves_version: bigint;
  readonly serves_program: string;
  readonly key_check: string;
  /** A JSON list of the digests of the steps that made it. */
  readonly steps: string;
}

/** Rejects with an Error of one line, which says what to do, where this program may not use the database. */
export async function migrate(
  database: Postgres,
  migrations: readonly PostgresMigration[],
  keyChecks: readonly string[],
  { isCopying = false }: { readonly isCopying?: boolean } = {},
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  // Most starts find all done, and wait for nobody.
  const before = await database.transact(versionOf);
  if (before === undefined || before.version < newest)
    await database.change((session) => migrateLocked(session, migrations, database.place), MIGRATION_MS);
  const [copy] = await database.rows<{ found: boolean }>(COPY_BEGUN);
  if (copy?.found === true && !isCopying)
    throw new UnusableDatabase(
      `The database at ${database.place} holds a copy that is not whole: run tollgate store copy to its end.`,
    );
  await database.transact((session) => checkServed(session, migrations, keyChecks, database.place));
}

async function versionOf(session: Session): Promise<VersionColumns | undefined> {
  const [tables] = await session.rows<TableCount>(TABLES);
  if (tables?.found !== true) return undefined;
  return (await session.rows<VersionColumns>(VERSION))[0];
}

async function migrateLocked(session: Session, migrations: readonly PostgresMigration[], place: string): Promise<void> {
  // Of the transaction, not of the session: behind a pooler the session is somebody else's next.
  await session.run(sql("SELECT pg_advisory_xact_lock($1)"), [LOCK]);
  const found = await versionOf(session);
  if (found === undefined) {
    const [others] = await session.rows<TableCount>(TABLES);
    if (others !== undefined && others.count > 0n)
      throw new UnusableDatabase(`The database at ${place} is another program's. Give Tollgate a new one of its own.`);
    await session.run({ text: VERSION_TABLE, name: "" });
  }
  if (found !== undefined) checkMade(found, migrations, place);
  const digests = stepDigests(migrations);
  for (const [at, { version, sql: text, serves }] of migrations.entries()) {
    if (found !== undefined && BigInt(version) <= found.version) continue;
    await session.script(text);
    await session.run(SET_VERSION, [version, serves.version, serves.program, digests.slice(0, at + 1)]);
  }
}

function checkMade({ version, steps }: VersionColumns, migrations: readonly PostgresMigration[], place: string): void {
  const refuse = (why: string): Error => new UnusableDatabase(`The database at ${place} ${why}`);
  checkSteps(Number(version), JSON.parse(steps) as string[], migrations, refuse);
}

async function checkServed(
  session: Session,
  migrations: readonly PostgresMigration[],
  keyChecks: readonly string[],
  place: string,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  const found = await versionOf(session);
  if (found === undefined) throw new UnusableDatabase(`The database at ${place} has no schema.`);
  if (found.serves_version > newest)
    throw new UnusableDatabase(
      `The database at ${place} has schema version ${found.version}, which serves Tollgate ${found.serves_program}` +
        ` and later: this program is older and knows versions up to ${newest}. Start the newer one.`,
    );
  checkMade(found, migrations, place);
  await checkFit(session, migrations.map(({ sql: text }) => text).join("\n"), place);
  const [inForce] = keyChecks;
  if (inForce === undefined || found.key_check === inForce) return;
  // While the secret is rotated, either is right, and the one in force is written down.
  if ((await session.run(SET_KEY_CHECK, [inForce, ["", ...keyChecks]])) === 1) return;
  throw new UnusableDatabase(
    `TOLLGATE_SECRET is not the one that the keys in the database at ${place} were made with:` +
      " every node needs the same.",
  );
}
