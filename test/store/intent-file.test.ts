/** Settlements that a killed process leaves to the next start, in two files that take turns. */
import { appendFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { IntentFile } from "../../src/store/intent-file.js";

/** As a line of a settlement is, and longer, so that a file is soon begun anew. */
const TEXT = "x".repeat(4_000);
const FILE_BYTES = 1024 * 1024;

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-intents-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "intents");
}

/** A file that is open at the end, as a kill leaves it. */
function opened(path: string): IntentFile {
  const file = new IntentFile(path);
  onTestFinished(() => file.close());
  return file;
}

const bytesOf = (path: string): number[] => [0, 1].map((half) => statSync(`${path}-${half}`).size);

test("what was kept is found by the next start, but for a line that the kill tore", async () => {
  const path = place();
  const file = opened(path);
  for (const id of ["r1", "r2", "r3"]) file.keep(id, `a ${id}`);
  await file.written;
  expect(file.written).toBeUndefined();
  file.ended("r2");
  appendFileSync(`${path}-0`, "a torn");
  const next = opened(path);
  expect(next.found).toEqual(["a r1", "a r2", "a r3"]);
  next.forget();
  expect(opened(path).found).toEqual([]);
});

test("a file is begun anew once the other is full and nothing in it is needed", async () => {
  const path = place();
  const file = opened(path);
  const keep = async (id: string): Promise<void> => {
    file.keep(id, TEXT);
    await file.written;
  };
  await keep("needed");
  for (let at = 0; at < 1_000; at++) {
    await keep(`r${at}`);
    file.ended(`r${at}`);
  }
  // The first holds what is needed, so that the second goes on beyond its size.
  expect(bytesOf(path)[0]).toBeGreaterThan(FILE_BYTES);
  expect(bytesOf(path)[1]).toBeGreaterThan(2 * FILE_BYTES);
  file.ended("needed");
  for (let at = 0; at < 10; at++) await keep(`later${at}`);
  expect(bytesOf(path)[0]).toBeLessThan(FILE_BYTES);
  expect(opened(path).found.filter((text) => text === TEXT).length).toBeGreaterThan(10);
});

test("what the database has before the end of the turn is not written", async () => {
  const path = place();
  const file = opened(path);
  for (const id of ["r1", "r2"]) file.keep(id, `a ${id}`);
  file.ended("r1");
  await file.written;
  expect(opened(path).found).toEqual(["a r2"]);
});

test("a process that ends well leaves nothing but what is not in the database", () => {
  const path = place();
  const file = new IntentFile(path);
  file.keep("r1", "a r1");
  file.ended("r1");
  file.close();
  file.close();
  file.keep("late", "after its end");
  expect(bytesOf(path)).toEqual([0, 0]);
  const other = new IntentFile(path);
  other.keep("r2", "a r2");
  other.close();
  expect(opened(path).found).toEqual(["a r2"]);
});
