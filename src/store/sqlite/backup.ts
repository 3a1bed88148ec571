/** Backups of the embedded store, made while a gateway serves from it, and brought back where none does. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Act, eventOf } from "../../audit/act.js";
import { DATABASE_NAME, giveToOwner, noDatabase, WITNESS_NAME } from "../data-directory.js";
import type { VerifyReport } from "../store.js";
import { SqliteAudit } from "./audit.js";
import { Sqlite } from "./binding.js";
import { Witness } from "../witness.js";
import { verifyDatabase } from "./verify.js";

/** True where a directory has the embedded store's database. */
export function hasDatabase(directory: string): boolean {
  return existsSync(join(directory, DATABASE_NAME));
}

/**
 * Writes the whole database, as it is at one moment, to a new file, and proves that. The copy says who made it; the
 * database itself is the gateway's that serves from it.
 */
export function backUp(directory: string, path: string, act: Act): VerifyReport {
  if (!hasDatabase(directory)) throw new Error(noDatabase(directory));
  const database = join(directory, DATABASE_NAME);
  if (existsSync(path)) throw new Error(`'${path}' is there already: name a new file.`);
  const source = new Sqlite(database, { readonly: true });
  try {
    source.prepare("VACUUM INTO ?").run(path);
  } finally {
    source.close();
    giveToOwner(directory);
  }
  chmodSync(path, 0o600);
  record(path, act);
  return proven(path);
}

/**
 * Puts a backup in the place of a data directory's database, which must not be there. Its witness takes the place of
 * the one that knows what was lost.
 */
export function restore(path: string, directory: string, witnessPath: string | undefined, act: Act): VerifyReport {
  const database = join(directory, DATABASE_NAME);
  const there = [database, `${database}-wal`].find((file) => existsSync(file));
  if (there !== undefined)
    throw new Error(
      `'${there}' is there already: stop its gateway and move the data directory away, but for 'secret'.`,
    );
  const report = proven(path);
  if (!report.holds) return report;
  mkdirSync(dirname(database), { recursive: true, mode: 0o700 });
  const draft = `${database}.draft`;
  copyFileSync(path, draft);
  chmodSync(draft, 0o600);
  record(draft, act);
  witnessed(draft, directory, witnessPath);
  renameSync(draft, database);
  giveToOwner(directory);
  if (witnessPath !== undefined) giveToOwner(dirname(witnessPath), [basename(witnessPath)]);
  return report;
}

function witnessed(path: string, directory: string, witnessPath: string | undefined): void {
  const database = new Sqlite(path, { bigints: true });
  try {
    const inside = join(directory, WITNESS_NAME);
    // Whose root secret it is the start notes.
    const witness = new Witness(witnessPath ?? inside, database, "", inside);
    witness.open();
    witness.close(undefined);
  } finally {
    database.close();
  }
}

function record(path: string, act: Act): void {
  const database = new Sqlite(path, { bigints: true });
  try {
    const audit = new SqliteAudit(database);
    const event = eventOf(act, { resource: "store/sqlite", accountId: "" });
    database.transaction(() => audit.append(event))();
  } finally {
    database.close();
  }
}

function proven(path: string): VerifyReport {
  const database = new Sqlite(path, { readonly: true, bigints: true });
  try {
    return verifyDatabase(database);
  } finally {
    database.close();
  }
}
