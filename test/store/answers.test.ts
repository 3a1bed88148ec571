/** Stored answers: what was put is found until its time is over or its room is needed, and over a restart. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Answers } from "../../src/store/sqlite/answers.js";
import type { AnswerRow } from "../../src/store/answer-rows.js";
import { openAnswerFile, SqliteAnswers } from "../../src/store/sqlite/answer-file.js";

const HOUR_MS = 3_600_000;
const ROOM = { recordBytesMax: 1_000, rowsMax: 100 };
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-answers-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function row(name: string, more: Partial<AnswerRow> = {}): AnswerRow {
  return {
    id: Buffer.from(name),
    accountId: "acme",
    requestId: `req_${name}`,
    print: Buffer.from(`print of ${name}`),
    record: Buffer.from(`record of ${name}`),
    recordUntilMs: HOUR_MS,
    untilMs: 2 * HOUR_MS,
    ...more,
  };
}

function open(nowMs: () => number = () => 0): { answers: Answers; errors: unknown[] } {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  return { answers: new Answers({ directory, nowMs, onSwept: () => undefined, onError }), errors };
}

test("what was put is found, is replaced, is removed, and outlives its process", async () => {
  const first = open();
  await Promise.all(["a", "b", "c"].map((name) => first.answers.put(row(name))));
  await first.answers.put(row("b", { requestId: "req_later", record: null }));
  await first.answers.remove(Buffer.from("c"));
  await first.answers.close();
  expect(statSync(join(directory, "answers.db")).mode & 0o777).toBe(0o600);
  const second = open();
  const found = await Promise.all(["a", "b", "c"].map((name) => second.answers.find(Buffer.from(name))));
  expect(found.map((answer) => answer?.requestId)).toEqual(["req_a", "req_later", undefined]);
  expect(Buffer.from(found[0]?.record ?? []).toString()).toBe("record of a");
  expect(found[1]?.record).toBeNull();
  await second.answers.close();
  expect([...first.errors, ...second.errors]).toEqual([]);
});

test("nothing is found any more when a key's time is over", async () => {
  let nowMs = 0;
  const { answers } = open(() => nowMs);
  await answers.put(row("a"));
  nowMs = 2 * HOUR_MS - 1;
  expect(await answers.find(Buffer.from("a"))).toBeDefined();
  nowMs = 2 * HOUR_MS;
  expect(await answers.find(Buffer.from("a"))).toBeUndefined();
  await answers.close();
});

test("after the end every call is refused", async () => {
  const { answers } = open();
  await answers.put(row("a"));
  await answers.close();
  await expect(answers.find(Buffer.from("a"))).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  await expect(answers.put(row("b"))).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
});

test("a sweep forgets what is over its time, then the oldest records over the bounds; their keys stay", () => {
  const file = openAnswerFile(directory);
  const answers = new SqliteAnswers(file.database);
  const put = (name: string, more: Partial<AnswerRow> = {}): void =>
    answers.write([{ kind: "put", row: row(name, more) }]);
  put("over", { untilMs: 50 });
  put("record over", { recordUntilMs: 50 });
  for (const [index, name] of ["old", "middle", "new"].entries()) {
    put(name, { record: Buffer.alloc(400), recordUntilMs: HOUR_MS + index });
  }
  expect(answers.sweep(100, ROOM)).toEqual({ rows: 4, recordBytes: 800, evicted: 1 });
  const kept = (name: string): string => {
    const found = answers.find(Buffer.from(name), 100);
    return found === undefined ? "nothing" : found.record === null ? "its key" : "all";
  };
  const names = ["over", "record over", "old", "middle", "new"];
  expect(names.map(kept)).toEqual(["nothing", "its key", "its key", "all", "all"]);
  expect(answers.sweep(100, { ...ROOM, rowsMax: 3 })).toMatchObject({ rows: 3, evicted: 0 });
  file.close();
});

test("where there is no room the account with the most loses its oldest, and nobody else anything", () => {
  const file = openAnswerFile(directory);
  const answers = new SqliteAnswers(file.database);
  const put = (name: string, accountId: string, recordUntilMs: number): void =>
    answers.write([{ kind: "put", row: row(name, { accountId, record: Buffer.alloc(100), recordUntilMs }) }]);
  put("small", "small", HOUR_MS);
  for (let count = 0; count < 50; count++) put(`large ${count}`, "large", HOUR_MS + count);
  expect(answers.sweep(100, ROOM)).toMatchObject({ recordBytes: 1_000, evicted: 41 });
  expect(answers.find(Buffer.from("small"), 100)?.record).not.toBeNull();
  expect(answers.find(Buffer.from("large 40"), 100)?.record).toBeNull();
  expect(answers.find(Buffer.from("large 41"), 100)?.record).not.toBeNull();
  expect(answers.sweep(100, { ...ROOM, rowsMax: 5 })).toMatchObject({ rows: 5 });
  expect(answers.find(Buffer.from("small"), 100)).toBeDefined();
  file.close();
});

test("a file of before rows named their account is read on", () => {
  const old = openAnswerFile(directory);
  old.database.exec("DROP INDEX answer_account; DROP INDEX answer_account_record");
  old.database.exec("ALTER TABLE answer DROP COLUMN account_id");
  old.close();
  const file = openAnswerFile(directory);
  const answers = new SqliteAnswers(file.database);
  answers.write([{ kind: "put", row: row("a") }]);
  expect(answers.find(Buffer.from("a"), 0)).toBeDefined();
  file.close();
});
