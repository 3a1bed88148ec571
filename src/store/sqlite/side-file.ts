/** A database beside the ledger's, whose last second a crash of the machine may take unless its log is synced. */
import { join } from "node:path";
import { Sqlite } from "./binding.js";
import { privateFile } from "./file.js";

/** The caller holds the lock of the directory. The schema changes nothing that is there. */
export function openSideFile(directory: string, name: string, schema: string): Sqlite {
  const database = new Sqlite(privateFile(join(directory, name)));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.pragma("trusted_schema = OFF");
  // What was forgotten or erased is not left in the file.
  database.pragma("secure_delete = ON");
  database.pragma("journal_size_limit = 67108864");
  database.exec(schema);
  return database;
}
