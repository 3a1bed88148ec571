/** A thread that was begun early is the one that gets the task, and one that failed meanwhile is begun anew. */
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { RecordThread } from "../../src/records/record-thread.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { beginThread } from "../../src/base/threads.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

/** Every thread that this process makes from now on. */
function madeThreads(): readonly Worker[] {
  const made: Worker[] = [];
  const note = (worker: Worker): void => void made.push(worker);
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  return made;
}

test("a start begins its threads, and the stores are opened by them", async () => {
  const made = madeThreads();
  beginThread("ledger");
  beginThread("records");
  await nextTurn();
  await Promise.all(made.map((worker) => once(worker, "online")));
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  const contentKeys = { keys: [Buffer.alloc(32, 7)], previous: undefined };
  const records = await RecordThread.start({ place: { directory }, contentKeys });
  expect(made).toHaveLength(2);
  await store.check();
  expect(await records.call("known", [])).toEqual([]);
  await records.close();
  await store.close();
});

test("nothing was begun: a thread is made when it is asked for", async () => {
  const made = madeThreads();
  const store = await openSqliteStore({ directory: temporaryDirectory() });
  await store.close();
  expect(made).toHaveLength(1);
});

test("one that failed before its task came is made again", async () => {
  const made = madeThreads();
  beginThread("ledger");
  await nextTurn();
  made[0]?.emit("error", new Error("the file of the thread is broken"));
  const store = await openSqliteStore({ directory: temporaryDirectory() });
  await store.check();
  await store.close();
  expect(made).toHaveLength(2);
  await made[0]?.terminate();
});
