/** The drivers of the store, so that what one must do is asked of each: PostgreSQL where it is at hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { ownedStore } from "../../src/serve/owned-storage.js";
import type { CallName, SqliteCalls } from "../../src/store/sqlite/calls.js";
import type { ArchiveDatabase } from "../../src/store/archive/database.js";
import { openPostgresArchive } from "../../src/store/postgres/archive.js";
import { Postgres } from "../../src/store/postgres/connection.js";
import { migrate } from "../../src/store/postgres/migration.js";
import { MIGRATIONS } from "../../src/store/postgres/schema.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { openSqliteArchive } from "../../src/store/sqlite/archive.js";
import { openSqliteThread, verifierOf } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";
import { startOwner } from "./owner.js";
import { administer, makeDatabase, postgresMissing, templateOf } from "./postgres.js";
import { openQuickSqlite } from "./quick-sqlite.js";
import { quickDirectory } from "./quick-directory.js";
import { tamperSqlite } from "./tamper-sqlite.js";

/** An empty database for one test, gone with it. */
export interface StorePlace {
  /** The store of a node. On SQLite the one before must be closed. */
  open(nodeId?: string): Promise<Store>;
  /** Changes rows behind the store's back, also those that never change. On SQLite the store must be closed. */
  tamper(sql: string): Promise<void>;
  /** What an archive asks, beside the store that is open. */
  archive(): Promise<ArchiveDatabase>;
  /** By which a command finds the database. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StoreDriver {
  /** As `TOLLGATE_TEST_STORE` names it. */
  readonly id: "sqlite" | "postgres";
  readonly name: "SQLite" | "SQLite of an owner" | "PostgreSQL";
  readonly missing: string | undefined;
  place(): Promise<StorePlace>;
}

/** The one that is always at hand. */
export const SQLITE: StoreDriver = {
  id: "sqlite",
  name: "SQLite",
  missing: undefined,
  place: () => Promise.resolve(sqlitePlace()),
};

export const STORE_DRIVERS: readonly StoreDriver[] = [
  SQLITE,
  { id: "postgres", name: "PostgreSQL", missing: postgresMissing, place: postgresPlace },
];

/** SQLite as a worker has it: another process owns the database, here this one, and is asked over a socket. */
export const OWNED: StoreDriver = {
  id: "sqlite",
  name: "SQLite of an owner",
  missing: undefined,
  place: () => Promise.resolve(ownedPlace()),
};

/** The same tests on each driver. */
export function onEachStore(tests: (driver: StoreDriver) => void, drivers = STORE_DRIVERS): void {
  for (const driver of drivers) describe.skipIf(driver.missing !== undefined)(`on ${driver.name}`, () => tests(driver));
}

/** An open store that the end of the test closes. */
export async function openStore(driver: StoreDriver): Promise<Store> {
  return (await driver.place()).open();
}

function sqlitePlace(): StorePlace & { readonly directory: string } {
  const parent = mkdtempSync(join(quickDirectory(), "tollgate-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const directory = join(parent, "data");
  return {
    directory,
    env: { TOLLGATE_DATA: directory },
    open: async () => closedAtEnd(await openQuickSqlite({ directory })),
    tamper: (sql) => {
      tamperSqlite(directory, sql);
      return Promise.resolve();
    },
    archive: () => archiveAtEnd(Promise.resolve(openSqliteArchive(directory))),
  };
}

function ownedPlace(): StorePlace {
  const { directory, ...place } = sqlitePlace();
  const open = async (): Promise<Store> => {
    const thread = await openSqliteThread({ directory });
    const verify = verifierOf(directory);
    const owner = await startOwner({
      ledger: (name, args) => thread.call(name as CallName<SqliteCalls>, ...(args as never)),
      nodes: () => verify(),
    });
    const worker = await owner.come();
    const close = async (): Promise<void> => {
      await worker.close();
      await owner.close();
      await thread.close();
    };
    return closedAtEnd({ ...ownedStore(worker), close });
  };
  return { ...place, open };
}

/** By which a witness knows its database. */
const NEW_IDENTITY = `SET session_replication_role = replica;
  UPDATE identity SET database_id = md5(gen_random_uuid()::text)`;

let template: Promise<string | undefined> | undefined;

/** The address of a database with the newest schema, gone when the test ends. A copy is made faster than a schema. */
export async function makeStoreDatabase(): Promise<string> {
  template ??= templateOf(async (url) => {
    const database = await Postgres.open(url);
    await migrate(database, MIGRATIONS, []).finally(() => database.close());
  });
  const copied = await template;
  const url = await makeDatabase(copied);
  if (copied !== undefined) await administer(NEW_IDENTITY, url);
  return url;
}

async function postgresPlace(): Promise<StorePlace> {
  const url = await makeStoreDatabase();
  return {
    env: { TOLLGATE_DATABASE_URL: url },
    open: async (nodeId = "node_1") => closedAtEnd(await openPostgresStore({ url, nodeId })),
    tamper: async (sql) => {
      await administer(`SET session_replication_role = replica; ${sql}`, url);
    },
    archive: () => archiveAtEnd(openPostgresArchive(url)),
  };
}

async function archiveAtEnd(opening: Promise<ArchiveDatabase>): Promise<ArchiveDatabase> {
  const database = await opening;
  onTestFinished(() => database.close().catch(() => undefined));
  return database;
}

/** A store may be closed before, and closing it twice does nothing. */
function closedAtEnd(store: Store): Store {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= store.close());
  onTestFinished(close);
  return { ...store, close };
}
