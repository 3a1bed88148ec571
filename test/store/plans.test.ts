/** How SQLite looks for rows: nothing that holds up others may pass over all that there is. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { openAnswerFile, SqliteAnswers } from "../../src/store/sqlite/answer-file.js";
import { LAST_TIME, sqliteCalls } from "../../src/store/sqlite/database.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { openSqliteContents } from "../../src/records/sqlite-contents.js";
import { openSqliteFile } from "../../src/store/sqlite/database-file.js";

const directory = mkdtempSync(join(tmpdir(), "tollgate-plans-"));
const { database, close } = openSqliteFile(directory, undefined);
const answers = openAnswerFile(directory);
afterAll(() => {
  close();
  answers.close();
  rmSync(directory, { recursive: true });
});

/** These read one end of an index and stop. */
const ENDS = [
  "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
  "SELECT max(request_id) FROM transfer WHERE request_id IS NOT NULL",
  LAST_TIME,
];
/** All transfers, by their rows or by an index of them that nothing narrows. */
const ALL_TRANSFERS = /^SCAN transfer|^SEARCH transfer USING (?:COVERING )?INDEX \w+ \(\w+>\?\)/;

/** All rows with their records; an index alone is small. */
const ALL_ANSWERS = /^SCAN answer$/;

/** The statements that the work prepares. */
function preparedBy(file: Sqlite, work: () => void): string[] {
  const prepare = vi.spyOn(file, "prepare");
  work();
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  return statements;
}

function planOf(file: Sqlite, sql: string): string[] {
  const names = Array.from(sql.matchAll(/:([a-z]\w*)/gi), ([, name = ""]) => [name, 1]);
  const values: unknown[] = names.length > 0 ? [Object.fromEntries(names)] : Array.from(sql.matchAll(/\?/g), () => 1);
  const steps = file.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map(({ detail }) => detail);
}

/** Which of the statements take a step that looks so. */
function walksOf(file: Sqlite, statements: readonly string[], walk: RegExp): string[] {
  return statements.filter((sql) => planOf(file, sql).some((step) => walk.test(step)));
}

test("no statement walks through all transfers, as the search for orphans once did every five seconds", () => {
  const statements = preparedBy(database, () => sqliteCalls(database));
  expect(statements.length).toBeGreaterThan(40);
  expect(walksOf(database, statements, ALL_TRANSFERS)).toEqual(ENDS);
});

test("no statement reads all kept answers, as their sweep once did every minute", () => {
  const statements = preparedBy(answers.database, () => new SqliteAnswers(answers.database));
  expect(statements.length).toBeGreaterThan(8);
  expect(walksOf(answers.database, statements, ALL_ANSWERS)).toEqual([]);
});

test("each statement of the thread of records is sound, which nothing else sees before it is first used", async () => {
  const prepare = vi.spyOn(Sqlite.prototype, "prepare");
  const [chunks, contents] = [openSqliteChunks(directory), openSqliteContents(directory)];
  const asked = prepare.mock.calls.map(([sql], index) => ({ sql, file: prepare.mock.contexts[index] as Sqlite }));
  prepare.mockRestore();
  const questions = asked.filter(({ sql }) => /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql));
  expect(questions.length).toBeGreaterThan(12);
  for (const { file, sql } of questions) expect(() => planOf(file, sql), sql).not.toThrow();
  await chunks.close();
  await contents.close();
});

test.each([
  [
    "the first search for orphans",
    () => database,
    "SELECT request_id FROM open_hold JOIN hold ON hold.sequence = hold_sequence WHERE open_hold.node_id <> ?",
    ALL_TRANSFERS,
  ],
  ["the first sweep", () => answers.database, "SELECT count(*), sum(record_bytes) FROM answer", ALL_ANSWERS],
])("%s would be found", (_name, file, sql, walk) => {
  expect(walksOf(file(), [sql], walk)).toEqual([sql]);
});
