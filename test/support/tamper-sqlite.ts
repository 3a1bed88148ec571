/** Changes what a closed SQLite store holds, also what its triggers keep as it is. */
import { join } from "node:path";
import { Sqlite } from "../../src/store/sqlite/binding.js";

/** Changes rows of a closed store behind its back. */
export function tamperSqlite(directory: string, sql: string): void {
  const database = new Sqlite(join(directory, "tollgate.db"));
  for (const name of database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
    .pluck()
    .all())
    database.exec(`DROP TRIGGER ${name}`);
  database.exec(sql);
  database.close();
}
