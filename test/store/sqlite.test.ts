/** The SQLite driver on a real file. */
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { MIGRATIONS, type Migration } from "../../src/store/sqlite/schema.js";
import { migrate } from "../../src/store/sqlite/migration.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { NOON_MS, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { openForTest } from "./directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { TEST_ACT } from "../support/acts.js";

describe("a data directory", () => {
  test("is its owner's alone, with every file in it", async () => {
    const directory = temporaryDirectory();
    await openForTest({ directory });
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const files = readdirSync(directory);
    expect(files).toContain("tollgate.db");
    for (const file of files) expect(statSync(join(directory, file)).mode & 0o777, file).toBe(0o600);
  });

  test("is open once at a time", async () => {
    const directory = temporaryDirectory();
    const first = await openSqliteStore({ directory });
    const message = `The data directory '${directory}' is in use by another Tollgate.`;
    await expect(openSqliteStore({ directory })).rejects.toThrow(message);
    await first.close();
    await openForTest({ directory });
  });

  test("that is no directory is refused by name", async () => {
    const directory = temporaryDirectory();
    writeFileSync(directory, "");
    await expect(openSqliteStore({ directory })).rejects.toThrow(directory);
  });

  test("may hold a link to a database elsewhere, whose log lies beside it", async () => {
    const [elsewhere, directory] = [temporaryDirectory(), temporaryDirectory()];
    await (await openSqliteStore({ directory: elsewhere })).close();
    mkdirSync(directory, { recursive: true });
    symlinkSync(join(elsewhere, "tollgate.db"), join(directory, "tollgate.db"));
    const store = await openForTest({ directory });
    await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
    await store.ledger.commit([creditOf(100n)]);
    expect(readdirSync(elsewhere)).toContain("tollgate.db-wal");
    expect(readdirSync(directory)).not.toContain("tollgate.db-wal");
  });

  test("keeps everything when it is closed and opened again", async () => {
    const directory = temporaryDirectory();
    const first = await openSqliteStore({ directory });
    await first.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
    await first.ledger.commit([creditOf(100n), holdOf(), settleOf()]);
    await first.close();
    const second = await openForTest({ directory });
    expect(await second.ledger.balance("acme")).toMatchObject({ availableNanos: 96n, spentNanos: 4n });
    expect(await second.ledger.commit([creditOf(100n)])).toMatchObject([{ repeated: true }]);
    expect((await second.ledger.verify()).problems).toEqual([]);
  });

  test("ends the leases of the process before, because it is gone", async () => {
    const directory = temporaryDirectory();
    const first = await openSqliteStore({ directory });
    await first.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
    await first.ledger.commit([creditOf(9n), holdOf({ amountNanos: 9n })]);
    await first.ledger.commit([{ kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false }]);
    await first.close();
    const second = await openForTest({ directory });
    const [result] = await second.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent: [] }]);
    expect(result).toEqual({ kind: "recovered", settled: 0, voided: 1 });
  });
});

describe("the schema", () => {
  const steps: readonly Migration[] = [
    { version: 1, sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY)" },
    { version: 2, sql: "ALTER TABLE thing ADD COLUMN name TEXT; INSERT INTO thing (name) VALUES ('new')" },
    { version: 3, sql: "UPDATE thing SET name = 'newer'" },
  ];

  test.each([0, 1, 2, 3])("comes from version %i to the newest, each step once", (version) => {
    const database = new Sqlite(":memory:");
    migrate(database, steps.slice(0, version), "x");
    migrate(database, steps, "x");
    migrate(database, steps, "x");
    expect(database.prepare("SELECT name FROM thing").pluck().all()).toEqual(["newer"]);
    expect(database.pragma("user_version")).toBe(3);
  });

  test("of a build that made one of the same versions by another step is refused, whichever is newer", () => {
    const [first, second] = steps;
    const other = { version: 1, sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY, other TEXT)" };
    for (const { made, version } of [
      { made: [other], version: 1 },
      { made: [other, second], version: 1 },
      { made: [first, { version: 2, sql: "ALTER TABLE thing ADD COLUMN other TEXT" }], version: 2 },
    ] as { made: Migration[]; version: number }[]) {
      const database = new Sqlite(":memory:");
      migrate(database, made, "x");
      expect(() => migrate(database, steps, "x")).toThrow(
        `The database in 'x' was made by another build, whose schema version ${version} was never released`,
      );
      expect(database.pragma("user_version")).toBe(made.length);
      migrate(database, made, "x");
      // One that was made before builds wrote down by what steps.
      database.exec("DROP TABLE schema_step");
      expect(() => migrate(database, made, "x")).toThrow("whose schema version 1 was never released");
    }
  });

  test("stays as it was where a step fails", () => {
    const database = new Sqlite(":memory:");
    const broken = { version: 2, sql: "INSERT INTO thing DEFAULT VALUES; INSERT INTO nothing DEFAULT VALUES" };
    expect(() => migrate(database, [...steps.slice(0, 1), broken], "x")).toThrow("nothing");
    expect(database.pragma("user_version")).toBe(1);
    expect(database.prepare("SELECT COUNT(*) FROM thing").pluck().get()).toBe(0);
  });

  test("of a newer program is refused with the directory and both versions", async () => {
    const directory = temporaryDirectory();
    await (await openSqliteStore({ directory })).close();
    const database = new Sqlite(join(directory, "tollgate.db"));
    database.pragma("user_version = 99");
    database.close();
    const newest = MIGRATIONS.at(-1)?.version;
    await expect(openSqliteStore({ directory })).rejects.toThrow(
      `The database in '${directory}' has schema version 99, but this program knows versions up to ${newest}`,
    );
    // The failed start let go of the directory.
    await expect(openSqliteStore({ directory })).rejects.toThrow("schema version 99");
  });

  test.each([
    ["UPDATE transfer SET posted_nanos = 1", "append-only"],
    ["DELETE FROM transfer", "append-only"],
    ["UPDATE hold SET amount_nanos = 1", "cannot modify hold because it is a view"],
    ["UPDATE usage SET charged_nanos = 1", "cannot modify usage because it is a view"],
    ["UPDATE release SET kind = 'void'", "append-only"],
    ["DELETE FROM release", "append-only"],
    ["UPDATE account SET debits_posted = credits_posted + 1 WHERE id = 'acme'", "CHECK constraint"],
    ["UPDATE account SET debits_pending = -1 WHERE id = 'acme'", "CHECK constraint"],
  ])("refuses %s", async (sql, message) => {
    const directory = temporaryDirectory();
    const store = await openSqliteStore({ directory });
    await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
    const gone = holdOf({ requestId: "gone" });
    const recover = { kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent: [] } as const;
    await store.ledger.commit([creditOf(100n), holdOf(), settleOf(), gone]);
    expect(await store.ledger.commit([recover])).toEqual([{ kind: "recovered", settled: 0, voided: 1 }]);
    await store.close();
    const database = new Sqlite(join(directory, "tollgate.db"));
    expect(() => database.exec(sql)).toThrow(message);
    database.close();
  });
});

test("a commit is refused as unavailable while the database is full, and reading goes on", async () => {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory, databaseBytesMax: 800_000 });
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  const unavailable = { reason: "ERROR_REASON_LEDGER_UNAVAILABLE" };
  let count = 0;
  const batch = (): LedgerOperation[] =>
    Array.from({ length: 100 }, (_, index) => creditOf(1n, { creditId: `c${count + index}` }));
  const fill = async (): Promise<void> => {
    for (; count < 100_000; count += 100) await store.ledger.commit(batch());
  };
  await expect(fill()).rejects.toMatchObject(unavailable);
  expect(await store.ledger.balance("acme")).toMatchObject({ grantedNanos: BigInt(count) });
  await store.close();
  const larger = await openForTest({ directory });
  expect(await larger.ledger.commit([creditOf(1n, { creditId: "last" })])).toMatchObject([{ kind: "credited" }]);
  expect((await larger.ledger.verify()).problems).toEqual([]);
});
