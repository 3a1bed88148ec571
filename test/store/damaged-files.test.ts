/**
 * Each database of a data directory, damaged in each of some ways, with each of its tables and columns renamed: what
 * opens it refuses, names the file, and says what to do.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UnusableData } from "../../src/base/unusable-data.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { openSqliteContents } from "../../src/records/sqlite-contents.js";
import { checkAnswerFile, openAnswerFile } from "../../src/store/sqlite/answer-file.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { openSqliteFile } from "../../src/store/sqlite/database-file.js";
import { bySweep } from "../support/sweep.js";

const FILES: Readonly<Record<string, (directory: string) => void>> = {
  "tollgate.db": (directory) => openSqliteFile(directory, undefined).close(),
  "answers.db": checkAnswerFile,
  "records.db": (directory) => void openSqliteChunks(directory).close(),
  "content.db": (directory) => void openSqliteContents(directory).close(),
};
const NAMES = Object.keys(FILES);
const BYTES_OF_HEADER = 100;
/** Of each table the first columns, or all. */
const COLUMNS_MAX = bySweep({ short: 1, long: 1_000, all: 1_000 });

const base = mkdtempSync(join(tmpdir(), "tollgate-damaged-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const newDirectory = (): string => mkdtempSync(join(base, "case-"));

let whole: string;
beforeAll(() => {
  whole = newDirectory();
  const ledger = openSqliteFile(whole, undefined);
  ledger.witness.open();
  ledger.witness.close(undefined);
  ledger.close();
  openAnswerFile(whole).close();
  for (const open of Object.values(FILES)) open(whole);
  // A file with more than its schema, so that half of it is not only empty pages.
  for (const name of NAMES) {
    const database = new Sqlite(join(whole, name));
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    expect(statSync(join(whole, name)).size, name).toBeGreaterThan(2 * 4096);
  }
});

function copyOfWhole(): string {
  const directory = newDirectory();
  for (const name of [...NAMES, "witness.json"]) copyFileSync(join(whole, name), join(directory, name));
  return directory;
}

function expectRefused(name: string, directory: string, why: RegExp): void {
  let error: unknown;
  try {
    FILES[name]?.(directory);
  } catch (thrown) {
    error = thrown;
  }
  expect(error, `${name} was opened`).toBeInstanceOf(UnusableData);
  const { message } = error as Error;
  expect(message).toContain(name === "tollgate.db" ? directory : `'${join(directory, name)}'`);
  expect(message).toMatch(why);
  expect(message).toMatch(/Restore it from a backup|Move it away|Keep the directory/);
  expect(message).not.toContain("\n");
}

const DAMAGES: Readonly<Record<string, (path: string, directory: string, name: string) => void>> = {
  "is cut off in the middle": (path) => truncateSync(path, Math.ceil(statSync(path).size / 2)),
  "is cut off by a page": (path) => truncateSync(path, statSync(path).size - 4096),
  "has a header of zeros": (path) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0, 0, BYTES_OF_HEADER));
  },
  "is zeros": (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
  "is text": (path) => writeFileSync(path, "no database".repeat(2_000)),
  "has the content of another": (path, directory, name) => {
    const other = NAMES[(NAMES.indexOf(name) + 1) % NAMES.length] ?? "";
    writeFileSync(path, readFileSync(join(directory, other)));
  },
};

describe.each(NAMES)("%s", (name) => {
  test.each(Object.keys(DAMAGES))("that %s is refused by its name", (damage) => {
    const directory = copyOfWhole();
    DAMAGES[damage]?.(join(directory, name), directory, name);
    expectRefused(name, directory, /is damaged|does not fit this program|another program|has lost state/);
  });

  test("whose tables and columns have other names is refused by the name of each", () => {
    const tables = tablesOf(whole, name);
    expect(tables.length).toBeGreaterThan(0);
    for (const { table, columns } of tables) {
      const renamed = copyOfWhole();
      alter(renamed, name, `ALTER TABLE "${table}" RENAME TO "${table}_x"`);
      expectRefused(name, renamed, new RegExp(`'${table}'`));
      for (const column of columns.slice(0, COLUMNS_MAX)) {
        const changed = copyOfWhole();
        alter(changed, name, `ALTER TABLE "${table}" RENAME COLUMN "${column}" TO "${column}_x"`);
        expectRefused(name, changed, new RegExp(`'${table}' has no column '${column}'`));
      }
    }
  });

  test("that is whole is opened again", () => {
    expect(() => FILES[name]?.(copyOfWhole())).not.toThrow();
  });

  test("that grew while another process reads it, and whose log is not in it yet, is opened", () => {
    const directory = copyOfWhole();
    const [reader, writer] = [new Sqlite(join(directory, name)), new Sqlite(join(directory, name))];
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM sqlite_master").get();
    writer.pragma("wal_autocheckpoint = 0");
    writer.exec("CREATE TABLE grown (some)");
    const add = writer.prepare("INSERT INTO grown VALUES (randomblob(4000))");
    for (let row = 0; row < 20; row++) add.run();
    writer.close();
    const sized = statSync(join(directory, name)).size;
    expect(() => FILES[name]?.(directory)).not.toThrow();
    expect(statSync(join(directory, name)).size, "all of the log went into the file").toBeLessThan(sized + 20 * 4_000);
    reader.close();
  });
});

function alter(directory: string, name: string, sql: string): void {
  const database = new Sqlite(join(directory, name));
  database.pragma("legacy_alter_table = ON");
  database.exec(sql);
  database.close();
}

function tablesOf(directory: string, name: string): { readonly table: string; readonly columns: readonly string[] }[] {
  const database = new Sqlite(join(directory, name));
  const tables = database
    .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all()
    .filter((table) => table !== "schema_step");
  const columns = database.prepare<[string], string>("SELECT name FROM pragma_table_info(?)").pluck();
  const found = tables.map((table) => ({ table, columns: columns.all(table) }));
  database.close();
  return found;
}
