/** The database of a gateway behind its back, on the driver that `TOLLGATE_TEST_STORE` names. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { administer } from "./postgres.js";
import { tamperSqlite } from "./tamper-sqlite.js";
import { databaseOf } from "./test-store.js";

/** The rows that a question finds, which both drivers must understand. The gateway may run meanwhile. */
export async function askDatabase(dataDirectory: string, sql: string): Promise<readonly object[]> {
  const url = await databaseOf(dataDirectory);
  if (url !== undefined) return administer(sql, url);
  const database = new Sqlite(join(dataDirectory, "tollgate.db"), { readonly: true });
  try {
    return database.prepare<[], object>(sql).all();
  } finally {
    database.close();
  }
}

/** Everything that a gateway has written, by its place: the files of its data directory, and the tables of a server. */
export async function writtenBy(dataDirectory: string): Promise<ReadonlyMap<string, Buffer>> {
  const written = new Map<string, Buffer>();
  for (const file of readdirSync(dataDirectory, { withFileTypes: true }))
    if (file.isFile()) written.set(file.name, readFileSync(join(dataDirectory, file.name)));
  const url = await databaseOf(dataDirectory);
  if (url === undefined) return written;
  const tables = await administer("SELECT relname AS name FROM pg_stat_user_tables", url);
  for (const { name } of tables as { name: string }[]) {
    const rows = (await administer(`SELECT row_to_json(t)::text AS text FROM ${name} t`, url)) as { text: string }[];
    const texts = rows.map(({ text }) => text).join("\n");
    // What is bytes there is told in hexadecimal.
    const bytes = [...texts.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex]) => Buffer.from(hex ?? "", "hex"));
    written.set(`the table ${name}`, Buffer.concat([Buffer.from(texts), ...bytes]));
  }
  return written;
}

/** Changes rows, also those that never change. The gateway must be stopped. */
export async function tamperDatabase(dataDirectory: string, sql: string): Promise<void> {
  const url = await databaseOf(dataDirectory);
  if (url === undefined) tamperSqlite(dataDirectory, sql);
  else await administer(`SET session_replication_role = replica; ${sql}`, url);
}
