/** A database beside the ledger's, whose last second a crash of the machine may take unless its log is synced. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { Sqlite } from "./binding.js";
import { privateFile } from "./database-file.js";
import { asUnusable, checkFit, checkWhole } from "./fit.js";

export interface SideFile {
  readonly name: string;
  /** It changes nothing that is there. */
  readonly schema: string;
  /** What is lost with it, as the end of "move it away: ". */
  readonly loss: string;
}

/** The caller holds the lock of the directory. Throws UnusableData where the file is damaged or does not fit. */
export function openSideFile(directory: string, { name, schema, loss }: SideFile): Sqlite {
  const path = privateFile(join(directory, name));
  const remedy = `Restore it from a backup, or move it and its -wal away: ${loss}.`;
  const expected = { path, schema, remedy };
  const isNew = statSync(path).size === 0;
  let database: Sqlite | undefined;
  try {
    database = new Sqlite(path);
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = NORMAL");
    database.pragma("trusted_schema = OFF");
    // What was forgotten or erased is not left in the file.
    database.pragma("secure_delete = ON");
    database.pragma("journal_size_limit = 67108864");
    if (!isNew) {
      checkWhole(database, expected);
      checkFit(database, expected, true);
    }
    database.exec(schema);
    return database;
  } catch (error) {
    database?.close();
    throw asUnusable(error, expected);
  }
}
