/** The thread of records: what ended is stored while long calls run, and seen in the order in which it was asked. */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { javascriptOf } from "../support/javascript-of.js";
import { Engine } from "../../src/records/engine.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { RecordThread } from "../../src/records/record-thread.js";
import { BatchBuilder, type RowBatch } from "../../src/records/row-batch.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { rowWith } from "./row.js";

const NOW_MS = 1_795_219_200_000;
const ALL: RecordFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, names: {} };
const CHUNKS = 40;
const ROWS = 100;
const QUESTIONS = 20;
/** Far more work than a busy machine lets the thread do between two messages of one turn. */
const LONG_CALLS = 100;

function batch(name: string, count: number): RowBatch {
  const builder = new BatchBuilder();
  for (let row = 0; row < count; row++)
    builder.push(rowWith({ id: `req_${name}_${row}`, endTimeMs: NOW_MS + row, account: "acme", endUser: `u${row}` }));
  return builder.take();
}

async function openThread(): Promise<RecordThread> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const engine = new Engine(openSqliteChunks(directory));
  for (let chunk = 0; chunk < CHUNKS; chunk++) await engine.append(batch(String(chunk), ROWS));
  await engine.close();
  const contentKeys = { keys: [Buffer.alloc(32, 7)], previous: undefined };
  const thread = await RecordThread.start({ place: { directory }, contentKeys });
  onTestFinished(() => thread.close());
  return thread;
}

async function countOf(thread: RecordThread): Promise<number> {
  const told = await thread.call("usage", [{ dimensions: [], filter: ALL }], []);
  return told?.tables[0]?.requestCounts[0] ?? 0;
}

test.each(["usage", "erase", "joinLeft"] as const)("what ended is stored before a long %s is over", async (name) => {
  const thread = await openThread();
  const over: string[] = [];
  const long = Array.from({ length: LONG_CALLS }, async () => {
    const asked: Promise<unknown>[] = [];
    if (name === "erase") asked.push(thread.call("erase", undefined, "u7"));
    if (name === "joinLeft") asked.push(thread.call("joinLeft", Number.MAX_SAFE_INTEGER));
    // The first join leaves nothing to the others, so questions stand between them.
    if (name !== "erase") asked.push(thread.call("usage", [{ dimensions: ["user"], filter: ALL }], []));
    await Promise.all(asked);
    over.push(name);
  });
  const stored = thread.call("append", batch("new", 3)).then(() => over.push("stored"));
  await Promise.all([...long, stored]);
  expect(over.at(-1)).toBe(name);
  expect(await countOf(thread)).toBe(CHUNKS * ROWS + 3);
});

test("a question sees what came before it, and nothing of what came after", async () => {
  const thread = await openThread();
  const counts: Promise<number>[] = [];
  for (let at = 0; at < QUESTIONS; at++) {
    counts.push(countOf(thread), countOf(thread));
    void thread.call("append", batch(`later ${at}`, 1));
  }
  const expected = Array.from({ length: QUESTIONS * 2 }, (_, at) => CHUNKS * ROWS + Math.floor(at / 2));
  expect(await Promise.all(counts)).toEqual(expected);
  await thread.call("joinTails");
  expect(await countOf(thread)).toBe(CHUNKS * ROWS + QUESTIONS);
});

test("what came during a sweep and a join is put together later, and is not lost", async () => {
  const thread = await openThread();
  const calls: Promise<unknown>[] = [];
  for (let at = 0; at < 100; at++) {
    calls.push(thread.call("append", batch(`some ${at}`, 2)), thread.call("joinTails"));
    if (at % 10 === 0) calls.push(thread.call("joinLeft", Number.MAX_SAFE_INTEGER));
    if (at % 25 === 0) calls.push(thread.call("sweepOne", NOW_MS, { recordsMs: 1_000, refusalsMs: 1_000 }));
  }
  await Promise.all(calls);
  expect(await countOf(thread)).toBe(CHUNKS * ROWS + 200);
  expect((await thread.call("list", { ...ALL, id: "req_some 99_" }, 10, undefined)).count).toBe(2);
});

test("a process that closes it beside a call that nobody waits for lives until it is closed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const script = fileURLToPath(await javascriptOf(new URL("closing-child.ts", import.meta.url)));
  // A process whose event loop is empty while its program waits ends with 13.
  const ended = await promisify(execFile)(process.execPath, [script, directory]);
  expect(ended.stdout).toBe("closed\n");
});
