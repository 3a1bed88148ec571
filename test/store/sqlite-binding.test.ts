/** What the rest of the store counts on, whichever package brings SQLite. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fc } from "../support/seeds.js";
import { afterAll, expect, test } from "vitest";
import { failureOf } from "../../src/store/sqlite/failure.js";
import { Sqlite, SqliteError } from "../../src/store/sqlite/binding.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-binding-"));
afterAll(() => rmSync(folder, { recursive: true }));

function thing(name: string): Sqlite {
  const database = new Sqlite(join(folder, name), { bigints: true });
  database.exec("CREATE TABLE thing (id INTEGER PRIMARY KEY, text TEXT, bytes BLOB) STRICT");
  return database;
}

test("SQLite is of 3.51.3 or later, in which a reset of the log loses nothing", () => {
  const version = new Sqlite(":memory:").prepare<[], string>("SELECT sqlite_version()").pluck().get() ?? "";
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  expect(major * 1_000_000 + minor * 1000 + patch).toBeGreaterThanOrEqual(3_051_003);
});

test("what is written is read as it was, integers to the last digit", () => {
  const database = thing("values.db");
  const insert = database.prepare("INSERT INTO thing (id, text, bytes) VALUES (?, ?, ?)");
  const rows = [
    { id: 9_223_372_036_854_775_807n, text: "ä€😀", bytes: new Uint8Array([0, 255, 1]) },
    { id: -9_223_372_036_854_775_808n, text: "", bytes: new Uint8Array() },
    { id: BigInt(Number.MAX_SAFE_INTEGER), text: null, bytes: null },
  ];
  for (const { id, text, bytes } of rows) expect(insert.run(id, text, bytes).changes).toBe(1);
  const found = rows.map(({ id }) => ({ ...(database.prepare("SELECT * FROM thing WHERE id = ?").get(id) as object) }));
  expect(found).toEqual(rows);
  expect(insert.run(Number.MAX_SAFE_INTEGER - 1, "by a number", null).changes).toBe(1);
  const numbered = database.prepare<[number], string>("SELECT text FROM thing WHERE id = ?").pluck();
  expect(numbered.get(Number.MAX_SAFE_INTEGER - 1)).toBe("by a number");
});

test("every text is read as it was written, and found by it", () => {
  const database = thing("texts.db");
  const write = database.prepare("INSERT OR REPLACE INTO thing (id, text) VALUES (1, ?)");
  const find = database.prepare<[string], string>("SELECT text FROM thing WHERE text = ?").pluck();
  const signs = fc.constantFrom("\0", "\uE000", "n", "a", "😀");
  fc.assert(
    fc.property(fc.array(signs), (text) => {
      write.run(text.join(""));
      expect(find.get(text.join(""))).toBe(text.join(""));
      expect(database.prepare("SELECT text FROM thing").all()).toEqual([{ text: text.join("") }]);
      expect([...database.prepare("SELECT text FROM thing").iterate()]).toEqual([{ text: text.join("") }]);
    }),
  );
});

test("a transaction that throws leaves nothing, and the next one is whole", () => {
  const database = thing("transaction.db");
  const insert = database.prepare("INSERT INTO thing (id) VALUES (?)");
  const both = database.transaction((...ids: number[]) => ids.forEach((id) => insert.run(id)));
  expect(() => both(1, 1)).toThrow(SqliteError);
  both(2, 3);
  expect(database.prepare<[], bigint>("SELECT id FROM thing").pluck().all()).toEqual([2n, 3n]);
});

test("a statement is prepared when it is first used, and what is wrong with it is said then", () => {
  const database = new Sqlite(":memory:");
  const find = database.prepare<[], string>("SELECT text FROM later").pluck();
  expect(() => find.all()).toThrow(SqliteError);
  database.exec("CREATE TABLE later (text TEXT); INSERT INTO later VALUES ('here')");
  expect(find.all()).toEqual(["here"]);
  database.close();
});

test.each([
  { what: "get", read: (database: Sqlite) => database.prepare("SELECT * FROM thing").get() },
  { what: "all", read: (database: Sqlite) => database.prepare("SELECT * FROM thing").all() },
  { what: "iterate", read: (database: Sqlite) => [...database.prepare("SELECT * FROM thing").iterate()] },
  { what: "exec", read: (database: Sqlite) => database.exec("SELECT * FROM thing") },
])("a damaged file ends the process, whether $what finds it", ({ what, read }) => {
  const path = join(folder, `${what}.db`);
  const database = thing(`${what}.db`);
  for (let id = 0; id < 50; id++)
    database.prepare("INSERT INTO thing (id, text) VALUES (?, ?)").run(id, "x".repeat(500));
  database.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 4096);
  writeFileSync(path, bytes);
  const damaged = new Sqlite(path);
  const failure = (() => {
    try {
      return read(damaged);
    } catch (error) {
      return failureOf(error);
    }
  })();
  expect(failure).toMatchObject({ kind: "fatal", code: "SQLITE_CORRUPT" });
});

test("a connection that was closed holds no lock, whatever it had begun", () => {
  const path = join(folder, "closed.db");
  const first = thing("closed.db");
  first.prepare("SELECT * FROM thing").all();
  first.exec("BEGIN EXCLUSIVE");
  first.close();
  const next = new Sqlite(path, { timeoutMs: 0 });
  next.exec("BEGIN EXCLUSIVE");
  next.close();
});

test("a lock that another holds is told at once where nobody waits for it", () => {
  thing("busy.db").exec("BEGIN IMMEDIATE");
  const other = new Sqlite(join(folder, "busy.db"), { timeoutMs: 0 });
  const failures = [() => other.exec("BEGIN IMMEDIATE"), () => other.prepare("BEGIN IMMEDIATE").run()].map((begin) => {
    try {
      return begin();
    } catch (error) {
      return failureOf(error);
    }
  });
  for (const failure of failures) expect(failure).toMatchObject({ kind: "unavailable", code: "SQLITE_BUSY" });
});
