/** The data directory: what is in it, and whether this process can use it at all. */
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";

export const DATABASE_NAME = "tollgate.db";
export const LOCK_NAME = "tollgate.lock";
export const WITNESS_NAME = "witness.json";

/** What is opened there. To open a pipe that nobody writes to would wait for ever. */
const FILES = [DATABASE_NAME, `${DATABASE_NAME}-wal`, `${DATABASE_NAME}-shm`, LOCK_NAME, WITNESS_NAME, "secret"];
/** The other databases of a gateway, which it opens once its ledger and the witness are there. */
const SIDE_FILES = ["answers.db", "records.db", "content.db"];
/** What only a ledger leaves there, beside its database and its witness. */
const TRACES = ["secret", ...SIDE_FILES, `${DATABASE_NAME}-wal`];

/** Makes the directory where there is none. Throws an Error of one line where it cannot be used. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory);
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of FILES) {
      const path = join(directory, name);
      if (existsSync(path) && !statSync(path).isFile()) throw new Error(`'${path}' is not a file`);
    }
  } catch (error) {
    throw unusable(directory, error);
  }
}

/** True where a ledger was here: its database, or what it noted of itself. An empty file is a first start's. */
export function holdsLedger(directory: string, witnessPath = join(directory, WITNESS_NAME)): boolean {
  const database = statSync(join(directory, DATABASE_NAME), { throwIfNoEntry: false });
  return (database !== undefined && database.size > 0) || existsSync(witnessPath);
}

/** True where a gateway has served from here. */
export function hasServed(directory: string): boolean {
  return SIDE_FILES.some((name) => existsSync(join(directory, name)));
}

/**
 * What tells of a ledger whose database and witness are both gone: its other files, and a mark elsewhere. None where
 * there was no ledger, and none where there is one. From here on an empty database stands there, so that a first start
 * that is killed is no loss to the next.
 */
export function tracesOfLost(
  directory: string,
  witnessPath = join(directory, WITNESS_NAME),
  markPath?: string,
): readonly string[] {
  const path = join(directory, DATABASE_NAME);
  if (existsSync(path) || existsSync(witnessPath)) return [];
  const traces = TRACES.filter((name) => existsSync(join(directory, name)));
  if (markPath !== undefined && existsSync(markPath)) traces.push(markPath);
  if (traces.length === 0) closeSync(openSync(path, "a", 0o600));
  return traces;
}

/** Said by each command that works on a database of which there is none. */
export function noDatabase(directory: string): string {
  return `There is no database in '${directory}': set TOLLGATE_DATA to the data directory of the gateway.`;
}

/**
 * A command of root leaves files that the gateway's own user cannot open: they are given to the owner of the directory,
 * whose gateway serves from it.
 */
export function giveToOwner(directory: string, names: readonly string[] = FILES): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  for (const name of names) {
    const path = join(directory, name);
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.isFile() === true && (there.uid !== uid || there.gid !== gid)) chownSync(path, uid, gid);
  }
}

export function unusable(directory: string, cause: unknown): Error {
  const problem = cause instanceof Error ? cause.message : String(cause);
  return new Error(
    `The data directory '${directory}' cannot be used: ${problem}. Set TOLLGATE_DATA to a directory that this` +
      " process can write to.",
    { cause },
  );
}

/** One directory after the other: Node's own recursion never ends where a parent takes none, such as in /proc. */
export function makeDirectory(directory: string): void {
  if (isThere(directory)) {
    if (!statSync(directory).isDirectory()) throw new Error("it is not a directory");
    return;
  }
  makeDirectory(dirname(directory));
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isThere(directory) || !statSync(directory).isDirectory()) throw error;
  }
}

/** A link to nothing is there as well, and `stat` says what is wrong with it. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
