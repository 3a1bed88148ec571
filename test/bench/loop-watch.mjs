/**
 * Loaded before a measured program: tells how long one callback of its event loop, and all that runs on from it, kept
 * the loop from the next. By the time that the thread was on a processor (`/proc/thread-self/schedstat`): what it waits
 * for one is the machine's lack of cores, and what it works off after such a wait is many callbacks.
 */
import { AsyncResource, createHook, executionAsyncResource } from "node:async_hooks";
import { appendFileSync, openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Promises, `process.nextTick` and `queueMicrotask`: what a callback queued runs right behind it. */
const RUNS_ON = new Set([Promise, Object, AsyncResource]);
/** How often the processor's time is read at most: a callback is told with what ran in the time before it. */
const READ_MS = 1;
/** Shorter ones are not told. */
const TOLD_MS = 4;

const path = new URL(import.meta.url).searchParams.get("out");
if (isMainThread && path !== null) {
  const stat = openSync("/proc/thread-self/schedstat", "r");
  const bytes = Buffer.alloc(128);
  const busyMs = () => Number(bytes.latin1Slice(0, readSync(stat, bytes, 0, bytes.length, 0)).split(" ")[0]) / 1e6;
  let lastMs = performance.now();
  let lastBusyMs = busyMs();
  const before = () => {
    const nowMs = performance.now();
    if (nowMs - lastMs < READ_MS) return;
    const { constructor } = executionAsyncResource();
    if (RUNS_ON.has(constructor)) return;
    const nowBusyMs = busyMs();
    const heldMs = nowBusyMs - lastBusyMs;
    if (heldMs >= TOLD_MS) appendFileSync(path, `${JSON.stringify({ heldMs, wallMs: nowMs - lastMs })}\n`);
    lastMs = nowMs;
    lastBusyMs = nowBusyMs;
  };
  createHook({ before }).enable();
  // Something to be late, where nothing else runs.
  setInterval(() => {}, READ_MS).unref();
}
