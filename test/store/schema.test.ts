/** Which databases a start opens: a new one, its own, and no other. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { APPLICATION_ID, MIGRATIONS } from "../../src/store/sqlite/schema.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { openForTest } from "./directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { TEST_ACT } from "../support/acts.js";

function databaseIn(directory: string): Sqlite {
  return new Sqlite(join(directory, "tollgate.db"));
}

test("a new database says that it is one of these, and which version", async () => {
  const directory = temporaryDirectory();
  const store = await openForTest({ directory });
  expect(await store.ledger.verify()).toMatchObject({ problems: [], transferCount: 0 });
  const database = databaseIn(directory);
  expect(database.pragma("user_version")).toBe(MIGRATIONS.at(-1)?.version);
  expect(database.pragma("application_id")).toBe(APPLICATION_ID);
  database.close();
});

test.each([
  { name: "an earlier build", witness: undefined, sql: "CREATE TABLE transfer (sequence INTEGER PRIMARY KEY)" },
  { name: "an earlier build with a witness", witness: "{}", sql: "CREATE TABLE transfer (sequence INTEGER)" },
  { name: "another program with versions", witness: undefined, sql: "CREATE TABLE thing (id INTEGER)" },
])("one of $name is refused in one line that says what to do, and stays as it was", async ({ sql, witness }) => {
  const directory = temporaryDirectory();
  mkdirSync(directory, { recursive: true });
  for (const version of [1, 11]) {
    const database = databaseIn(directory);
    if (version === 1) database.exec(sql);
    database.pragma(`user_version = ${version}`);
    database.close();
    if (witness !== undefined) writeFileSync(join(directory, "witness.json"), witness);
    const refused =
      `The database in '${directory}' was written by an earlier build, whose schema was never released, or by another` +
      " program. Keep the directory, and start with a new one.";
    await expect(openSqliteStore({ directory })).rejects.toThrow(refused);
    const after = databaseIn(directory);
    expect(after.pragma("user_version")).toBe(version);
    expect(after.prepare("SELECT count(*) FROM sqlite_master").pluck().get()).toBe(1);
    after.close();
  }
});

/** Every row that may change, by its table and itself, but for those of the nodes. */
function changeableRows(directory: string): Map<string, string> {
  const rows = new Map<string, string>();
  const database = databaseIn(directory);
  for (const table of ["account", "operator_total", "open_hold", "usage_day", "budget"])
    for (const row of database.prepare<[], unknown[]>(`SELECT * FROM ${table}`).raw().all())
      rows.set(`${table} ${String(row[0])} ${String(row[1])} ${String(row[2])} ${String(row[3])}`, inspect(row));
  database.close();
  return rows;
}

test("requests of two accounts change no row in common, not even of the operator's", async () => {
  const directory = temporaryDirectory();
  const store = await openForTest({ directory });
  const ids = ["acme", "other"];
  for (const id of ids) await store.accounts.create({ id, name: id, createTimeMs: 0 }, TEST_ACT);
  await store.ledger.commit(ids.map((accountId) => creditOf(100n, { accountId, creditId: accountId })));
  const changed: string[][] = [];
  for (const accountId of ids) {
    const before = changeableRows(directory);
    const mine = { accountId, keyId: `key of ${accountId}` };
    for (const requestId of [`${accountId} ends`, `${accountId} runs`])
      await store.ledger.commit([holdOf({ ...mine, requestId })]);
    await store.ledger.commit([settleOf({ requestId: `${accountId} ends` })]);
    const after = changeableRows(directory);
    changed.push([...after.keys()].filter((name) => after.get(name) !== before.get(name)));
  }
  const [ofAcme = [], ofOther = []] = changed;
  expect(ofAcme.length).toBeGreaterThan(6);
  expect(ofOther).toHaveLength(ofAcme.length);
  expect(ofOther.filter((name) => ofAcme.includes(name))).toEqual([]);
});
