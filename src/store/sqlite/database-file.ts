/** The database file: its directory, its lock, and how it is opened. */
import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { UnusableData } from "../../base/unusable-data.js";
import { DATABASE_NAME, hasServed, LOCK_NAME, prepareDirectory, unusable, WITNESS_NAME } from "../data-directory.js";
import {
  type Loss,
  foundIn,
  lossError,
  lossOf,
  lostDatabase,
  lostSecret,
  lostTogether,
  lostWitness,
  recordLoss,
} from "./loss.js";
import { checkVersion, migrate, schemaVersion } from "./migration.js";
import { MIGRATIONS } from "./schema.js";
import { Sqlite, SqliteError } from "./binding.js";
import { checkFit, checkWhole } from "./fit.js";
import { readWitness, Witness, type WitnessNote } from "../witness.js";

/** A directory that is open: the database, and the lock that keeps every other process out. */
export interface SqliteFile {
  readonly database: Sqlite;
  close(): void;
}

/** The ledger's file, with its witness. */
export interface LedgerFile extends SqliteFile {
  readonly witness: Witness;
  /** What was lost, where that was accepted. */
  readonly lossFound: string | undefined;
}

/** What a start knows of the directory, and what it puts up with. */
export interface StartCheck {
  /** Derived from the root secret; empty where it is not compared. */
  readonly keyCheck: string;
  /** Of the other root secrets that are taken. */
  readonly otherKeyChecks: readonly string[];
  readonly acceptLoss: boolean;
  /** Where the witness is kept; undefined: in the directory. */
  readonly witnessPath: string | undefined;
  /** Files of a ledger that were there when neither its database nor its witness was. */
  readonly traces: readonly string[];
}

const UNCHECKED: StartCheck = {
  keyCheck: "",
  otherKeyChecks: [],
  acceptLoss: false,
  witnessPath: undefined,
  traces: [],
};
const RESTORE =
  "Restore it from a backup. To start without it, move it away and run, once: tollgate serve --accept-loss";
const PAGE_BYTES = 4096;

/**
 * Opens the directory for this process alone. Throws an Error of one line that names it, also where its witness tells
 * of a loss that nobody accepts; then no row was changed.
 */
export function openSqliteFile(
  directory: string,
  databaseBytesMax: number | undefined,
  check: StartCheck = UNCHECKED,
): LedgerFile {
  prepareDirectory(directory);
  const lock = takeLock(directory);
  let database: Sqlite | undefined;
  try {
    const inside = join(directory, WITNESS_NAME);
    const witnessPath = check.witnessPath ?? inside;
    // One that shall be elsewhere from now on is still here.
    const note = readWitness(witnessPath) ?? readWitness(inside);
    const missing = missingDatabase(directory, note, check.traces);
    if (missing !== undefined && !check.acceptLoss) throw lossError(directory, [missing]);
    database = new Sqlite(privateFile(join(directory, DATABASE_NAME)), { bigints: true });
    prepare(database, databaseBytesMax);
    checkVersion(database, MIGRATIONS, directory);
    checkLedger(database, directory);
    const losses = missing === undefined ? lossesOf(database, directory, note, check) : [missing];
    if (losses.length > 0 && !check.acceptLoss) throw lossError(directory, losses);
    migrate(database, MIGRATIONS, directory);
    // The lock says that no other node is alive: all that ever beat here are gone.
    database.exec("DELETE FROM node");
    if (losses.length > 0) recordLoss(database, foundIn(losses), Date.now());
    const keyCheck = check.keyCheck || (typeof note === "object" ? note.keyCheck : "");
    const witness = new Witness(witnessPath, database, keyCheck, inside);
    return ledgerFile(database, lock, witness, losses.length > 0 ? foundIn(losses) : undefined);
  } catch (error) {
    database?.close();
    lock.close();
    throw explained(directory, DATABASE_NAME, error);
  }
}

/** Before anything is read of it, or changed. A new one has nothing yet. */
function checkLedger(database: Sqlite, directory: string): void {
  const current = schemaVersion(database);
  if (current === 0) return;
  const made = MIGRATIONS.filter(({ version }) => version <= current);
  const path = join(directory, DATABASE_NAME);
  checkWhole(database, { path, remedy: RESTORE });
  checkFit(database, { path, schema: made.map(({ sql }) => sql).join("\n"), remedy: RESTORE });
}

function ledgerFile(database: Sqlite, lock: Sqlite, witness: Witness, lossFound: string | undefined): LedgerFile {
  const close = (): void => {
    database.close();
    lock.close();
  };
  return { database, witness, lossFound, close };
}

/** The loss of a database whose file is not there or empty: nothing was opened yet, which would make one. */
function missingDatabase(
  directory: string,
  note: WitnessNote | "damaged" | undefined,
  traces: readonly string[],
): Loss | undefined {
  if (note === undefined) return traces.length === 0 ? undefined : lostTogether(traces);
  const path = join(directory, DATABASE_NAME);
  if (!existsSync(path)) return lostDatabase("gone", note);
  return statSync(path).size === 0 ? lostDatabase("empty", note) : undefined;
}

function lossesOf(
  database: Sqlite,
  directory: string,
  note: WitnessNote | "damaged" | undefined,
  { keyCheck, otherKeyChecks }: StartCheck,
): Loss[] {
  const isNew = schemaVersion(database) === 0;
  if (isNew && database.prepare("SELECT 1 FROM sqlite_master").get() !== undefined)
    throw new UnusableData(`'${join(directory, DATABASE_NAME)}' is another program's database. Move it away.`);
  if (note === undefined) return hadWitness(database, directory, isNew) ? [lostWitness("gone")] : [];
  if (note === "damaged") return isNew ? [lostDatabase("empty", note)] : [lostWitness("damaged")];
  const lost = isNew ? lostDatabase("empty", note) : lossOf(database, note);
  return [lost, lostSecret([keyCheck, ...otherKeyChecks], note)].filter((loss) => loss !== undefined);
}

/**
 * A ledger has a witness before its first transfer, and before a gateway serves. A first start that was killed before
 * that has lost nothing.
 */
function hadWitness(database: Sqlite, directory: string, isNew: boolean): boolean {
  if (hasServed(directory)) return true;
  return !isNew && database.prepare("SELECT 1 FROM transfer LIMIT 1").get() !== undefined;
}

/** What SQLite and the system say of a file in few words, as a line that says what to do. */
function explained(directory: string, name: string, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const path = join(directory, name);
  if (!["SQLITE_NOTADB", "SQLITE_CORRUPT"].some((code) => String(error.code).startsWith(code)))
    return unusable(directory, error);
  const remedy = name === LOCK_NAME ? "It holds nothing: remove it." : RESTORE;
  return new UnusableData(`'${path}' is damaged (${error.message}). ${remedy}`, { cause: error });
}

/** Opens the database beside its writer, to read one snapshot of it. */
export function openSnapshot(directory: string): SqliteFile {
  const database = new Sqlite(join(directory, DATABASE_NAME), { readonly: true, bigints: true });
  database.pragma("query_only = ON");
  database.exec("BEGIN");
  return { database, close: () => database.close() };
}

function prepare(database: Sqlite, databaseBytesMax: number | undefined): void {
  database.pragma("journal_mode = WAL");
  // An acknowledged commit is on the disk, even where the power fails: `wal.ts` syncs the log for each.
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

function takeLock(directory: string): Sqlite {
  let lock: Sqlite | undefined;
  try {
    lock = lockOf(directory);
  } catch (error) {
    throw explained(directory, LOCK_NAME, error);
  }
  if (lock === undefined) throw new Error(`The data directory '${directory}' is in use by another Tollgate.`);
  return lock;
}

/**
 * A lock that ends with the process, however it ends: an exclusive transaction on a file of its own. Undefined where
 * another has it.
 */
export function lockOf(directory: string): Sqlite | undefined {
  const lock = new Sqlite(privateFile(join(directory, LOCK_NAME)), { timeoutMs: 0 });
  try {
    lock.pragma("journal_mode = MEMORY");
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof SqliteError && error.code === "SQLITE_BUSY") return undefined;
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
