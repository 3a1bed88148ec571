/** The store of a test that starts no gateway: SQLite in a directory, or that directory's database on PostgreSQL. */
import { openPostgresStore } from "../../src/store/postgres/store.js";
import type { Store } from "../../src/store/store.js";
import { openQuickSqlite } from "./quick-sqlite.js";
import { databaseOf } from "./test-store.js";

/** As `TOLLGATE_TEST_STORE` names it. Opened again in the same directory it holds what it held. */
export async function openTestStore(directory: string, nodeId = "node_1"): Promise<Store> {
  const url = await databaseOf(directory);
  return url === undefined ? openQuickSqlite({ directory }) : openPostgresStore({ url, nodeId });
}
