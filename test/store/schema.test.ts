/** A database that an earlier version of the program wrote opens, keeps its proofs, and goes on. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../src/store/sqlite/schema.js";
import { NOON_MS, holdOf, settleOf } from "../ledger/operations.js";
import { openForTest, temporaryDirectory } from "./directory.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";

/** What the program of schema version 2 wrote: a request in each state, whose hashes say nothing of attempts. */
const VERSION_2 = readFileSync(join(import.meta.dirname, "testdata/version-2.sql"), "utf8");
const LOG = '[["","","ERROR_REASON_UPSTREAM_FAILED",503,1,2,null]]';

function directoryOf(sql: string): string {
  const directory = temporaryDirectory();
  mkdirSync(directory, { recursive: true });
  const database = new Sqlite(join(directory, "tollgate.db"));
  database.exec(sql);
  database.close();
  return directory;
}

test("one of version 2 comes to the newest, with every proof that it had", async () => {
  const directory = directoryOf(VERSION_2);
  const store = await openForTest({ directory });
  expect(await store.ledger.verify()).toMatchObject({ problems: [], transferCount: 10, openHoldCount: 1 });
  const database = new Sqlite(join(directory, "tollgate.db"), { readonly: true });
  expect(database.pragma("user_version")).toBe(MIGRATIONS.at(-1)?.version);
  database.close();
});

test.each([
  { id: "answered", state: "settled", attempts: 1 },
  { id: "retried", state: "settled", attempts: 2 },
  { id: "failed", state: "voided", attempts: 3 },
  { id: "recovered", state: "settled", attempts: 1 },
  { id: "held", state: "held", attempts: 1 },
])("its request $id says no more of its attempts than was kept", async ({ id, state, attempts }) => {
  const store = await openForTest({ directory: directoryOf(VERSION_2) });
  expect(await store.requests.get(id)).toMatchObject({ state, attempts, attemptLog: null });
});

test("it goes on with logs of attempts, and old and new rows are proven together", async () => {
  const store = await openForTest({ directory: directoryOf(VERSION_2) });
  const nowMs = NOON_MS + 5_000;
  const results = await store.ledger.commit([
    settleOf({ requestId: "held", attempts: 2, attemptLog: LOG, nowMs }),
    holdOf({ requestId: "new", nowMs }),
    settleOf({ requestId: "new", attemptLog: LOG, nowMs }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(["settled", "held", "settled"]);
  expect(await store.requests.get("held")).toMatchObject({ state: "settled", attempts: 2, attemptLog: LOG });
  expect((await store.ledger.verify()).problems).toEqual([]);
});

test("a changed row of it is named as before", async () => {
  const directory = directoryOf(VERSION_2);
  const database = new Sqlite(join(directory, "tollgate.db"));
  database.exec("DROP TRIGGER usage_update; UPDATE usage SET attempts = 1 WHERE attempts = 3");
  database.close();
  const { problems } = await (await openForTest({ directory })).ledger.verify();
  expect(problems.join("\n")).toContain("(v:failed) was changed");
});

/** What the program of schema version 10 wrote: three generations of keys, whose budgets were their own alone. */
const VERSION_10 = readFileSync(join(import.meta.dirname, "testdata/version-10.sql"), "utf8");

/** The counters of keys: the owner, its period, and what is held and spent. */
function keyBudgets(directory: string): unknown[] {
  const database = new Sqlite(join(directory, "tollgate.db"), { readonly: true });
  const columns = "owner_id, trim(period || ' ' || bucket), pending_nanos, spent_nanos";
  const rows = database.prepare(`SELECT ${columns} FROM budget WHERE owner = 'key' ORDER BY 1, 2`).raw().all();
  database.close();
  return rows;
}

test("what children held and spent in one of version 10 counts for all that made them, and is proven so", async () => {
  const directory = directoryOf(VERSION_10);
  const before = keyBudgets(directory);
  expect(before).toContainEqual(["key_1", "total", 0, 1]);
  expect(before).toContainEqual(["key_2", "total", 0, 20]);
  const store = await openForTest({ directory });
  expect((await store.ledger.verify()).problems).toEqual([]);
  expect(keyBudgets(directory)).toEqual([
    ["key_1", "day 2026-11-21", 0, 4_321],
    ["key_1", "day 2026-11-22", 60, 500],
    ["key_1", "month 2026-11", 60, 4_821],
    ["key_1", "total", 60, 4_821],
    ["key_2", "day 2026-11-21", 0, 320],
    ["key_2", "day 2026-11-22", 60, 500],
    ["key_2", "month 2026-11", 60, 820],
    ["key_2", "total", 60, 820],
    ["key_3", "day 2026-11-21", 0, 300],
    ["key_3", "day 2026-11-22", 60, 500],
    ["key_3", "month 2026-11", 60, 800],
    ["key_3", "total", 60, 800],
    ["key_4", "day 2026-11-21", 0, 4_000],
    ["key_4", "month 2026-11", 0, 4_000],
    ["key_4", "total", 0, 4_000],
  ]);
});

test("a child's request that one of version 10 left open ends in its makers' budgets, which then refuse", async () => {
  const directory = directoryOf(VERSION_10);
  const store = await openForTest({ directory });
  const nowMs = NOON_MS + 86_400_000;
  const budgets = [{ period: "total", limitNanos: 4_841n, makerId: "key_1" }] as const;
  const results = await store.ledger.commit([
    settleOf({ requestId: "held", costNanos: 9n, nowMs }),
    // Now 4,830 are spent.
    holdOf({ requestId: "one too many", keyId: "key_2", amountNanos: 12n, budgets, nowMs }),
    holdOf({ requestId: "one that fits", keyId: "key_2", amountNanos: 11n, budgets, nowMs }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(["settled", "budget_exceeded", "held"]);
  expect(keyBudgets(directory)).toContainEqual(["key_1", "total", 11, 4_830]);
  expect((await store.ledger.verify()).problems).toEqual([]);
});
