/** The database file: its directory, its lock, how it is opened, and how it comes to the newest schema. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { MIGRATIONS, type Migration } from "./schema.js";

export type Sqlite = Database.Database;

/** A directory that is open: the database, and the lock that keeps every other process out. */
export interface SqliteFile {
  readonly database: Sqlite;
  close(): void;
}

const DATABASE_NAME = "tollgate.db";
const LOCK_NAME = "tollgate.lock";
const PAGE_BYTES = 4096;

/** Opens the directory for this process alone. Throws an Error of one line that names it. */
export function openSqliteFile(directory: string, databaseBytesMax: number | undefined): SqliteFile {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = takeLock(directory);
  try {
    const database = new Database(privateFile(join(directory, DATABASE_NAME)));
    prepare(database, databaseBytesMax);
    migrate(database, MIGRATIONS, directory);
    // The lock says that no other node is alive: all that ever beat here are gone.
    database.exec("DELETE FROM node");
    return {
      database,
      close: () => {
        database.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Opens the database beside its writer, to read one snapshot of it. */
export function openSnapshot(directory: string): SqliteFile {
  const database = new Database(join(directory, DATABASE_NAME), { readonly: true, fileMustExist: true });
  database.defaultSafeIntegers(true);
  database.pragma("query_only = ON");
  database.exec("BEGIN");
  return { database, close: () => database.close() };
}

/** Brings a database to the newest version, one step after the other. Each step happens whole or not at all. */
export function migrate(database: Sqlite, migrations: readonly Migration[], directory: string): void {
  const current = schemaVersion(database);
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest) {
    throw new Error(
      `The database in '${directory}' has schema version ${current}, but this program knows versions up to ${newest}:` +
        " start the newer program that wrote it.",
    );
  }
  const oldest = migrations[0]?.version ?? 0;
  if (current > 0 && current < oldest) {
    throw new Error(
      `The database in '${directory}' has schema version ${current}, which was never released: this program knows` +
        ` versions from ${oldest}. Keep the directory, and start with a new one.`,
    );
  }
  for (const { version, sql } of migrations) {
    if (version <= current) continue;
    database.transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${version}`);
    })();
  }
}

function schemaVersion(database: Sqlite): number {
  return Number(database.pragma("user_version", { simple: true }));
}

function prepare(database: Sqlite, databaseBytesMax: number | undefined): void {
  database.defaultSafeIntegers(true);
  database.pragma("journal_mode = WAL");
  // An acknowledged commit is on the disk, even where the power fails: `sqlite-desk.ts` syncs the log for each.
  database.pragma("synchronous = NORMAL");
  database.pragma("foreign_keys = ON");
  database.pragma("trusted_schema = OFF");
  database.pragma("temp_store = MEMORY");
  database.pragma("cache_size = -8192");
  // Copying the log into the database costs two more fsyncs: every 32 MB of log rather than every 4.
  database.pragma("wal_autocheckpoint = 8000");
  database.pragma("journal_size_limit = 67108864");
  if (databaseBytesMax !== undefined) database.pragma(`max_page_count = ${Math.ceil(databaseBytesMax / PAGE_BYTES)}`);
}

/** A lock that ends with the process, however it ends: an exclusive transaction on a file of its own. */
function takeLock(directory: string): Sqlite {
  const lock = new Database(privateFile(join(directory, LOCK_NAME)), { timeout: 0 });
  try {
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code === "SQLITE_BUSY")
      throw new Error(`The data directory '${directory}' is in use by another Tollgate.`, { cause: error });
    throw error;
  }
}

/**
 * Makes sure that only the owner can read the file. SQLite gives its log the same mode. A file that is there is not
 * opened: closing it again would end every lock that this process has on it.
 */
export function privateFile(path: string): string {
  if (existsSync(path)) chmodSync(path, 0o600);
  else closeSync(openSync(path, "ax", 0o600));
  return path;
}
