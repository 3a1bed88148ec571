/** The embedded store by itself, for tests that are about it. */
import { onTestFinished } from "vitest";
import { type SqliteOptions, openSqliteStore } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";

/** Opens a store that the end of the test closes. */
export async function openForTest(options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}
