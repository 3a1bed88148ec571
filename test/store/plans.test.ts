/** How SQLite looks for rows: no statement of the database's thread may pass over all that ever happened. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { sqliteCalls } from "../../src/store/sqlite-database.js";
import { openSqliteFile } from "../../src/store/sqlite-file.js";

const directory = mkdtempSync(join(tmpdir(), "tollgate-plans-"));
const { database, close } = openSqliteFile(directory, undefined);
afterAll(() => {
  close();
  rmSync(directory, { recursive: true });
});

/** These read one end of an index and stop. */
const ENDS = [
  "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
  "SELECT max(request_id) FROM transfer WHERE request_id IS NOT NULL",
];
/** All transfers, by their rows or by an index of them that nothing narrows. */
const ALL_TRANSFERS = /^SCAN transfer|^SEARCH transfer USING (?:COVERING )?INDEX transfer_request \(request_id>\?\)/;

function planOf(sql: string): string[] {
  const names = Array.from(sql.matchAll(/:([a-z]\w*)/gi), ([, name = ""]) => [name, 1]);
  const values: unknown[] = names.length > 0 ? [Object.fromEntries(names)] : Array.from(sql.matchAll(/\?/g), () => 1);
  const steps = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map(({ detail }) => detail);
}

test("no statement walks through all transfers, as the search for orphans once did every five seconds", () => {
  const prepare = vi.spyOn(database, "prepare");
  sqliteCalls(database);
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  expect(statements.length).toBeGreaterThan(40);
  for (const sql of ENDS) expect(statements).toContain(sql);
  const walks = statements.filter((sql) => !ENDS.includes(sql) && planOf(sql).some((step) => ALL_TRANSFERS.test(step)));
  expect(walks).toEqual([]);
});

test("such a walk would be found", () => {
  const walk =
    "SELECT request_id FROM open_hold JOIN hold ON hold.sequence = hold_sequence WHERE open_hold.node_id <> ?";
  expect(planOf(walk).some((step) => ALL_TRANSFERS.test(step))).toBe(true);
});
