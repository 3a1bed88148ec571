/** A database that an earlier version of the program wrote opens, keeps its proofs, and goes on. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../src/store/schema.js";
import { NOON_MS, holdOf, settleOf } from "../ledger/operations.js";
import { openForTest, temporaryDirectory } from "./directory.js";
import { Sqlite } from "../../src/store/sqlite-binding.js";

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
