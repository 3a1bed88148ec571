/** A data directory for one test, gone when the test ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type SqliteOptions, openSqliteStore } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";

export function temporaryDirectory(): string {
  const parent = mkdtempSync(join(tmpdir(), "tollgate-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, "data");
}

/** Opens a store that the end of the test closes. */
export async function openForTest(options: SqliteOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}
