/** Gives back what the start of a thread left in memory, once it has little to do. */
import type { Session } from "node:inspector";
import { performance } from "node:perf_hooks";

/** How often a thread is looked at, and for how long at most: one that stays busy collects by itself. */
const LOOK_MS = 1_000;
const LOOKS_MAX = 600;
/** Of the time since the last look: what a thread may have worked that counts as idle. */
const WORKED_MAX = 0.1;

/**
 * Collects all that can be, once, as soon as this thread was idle between two looks. V8 lets the young generation grow
 * while modules load, to 46 MB on Node 26, and collects only when something is allocated: a thread that is idle after
 * its start would keep all of it. A collection takes some 20 ms, which neither the start nor a request waits for. Does
 * nothing where Node was built without an inspector, and keeps no process alive.
 */
export function giveBackStartMemory(): void {
  whenIdle(() => void collectAll(), LOOK_MS);
}

/** Calls once, after a look that found the thread idle since the one before. */
export function whenIdle(act: () => void, lookMs: number): void {
  let last = performance.eventLoopUtilization();
  let looks = 0;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const isIdle = performance.eventLoopUtilization(now, last).utilization <= WORKED_MAX;
    last = now;
    looks += 1;
    if (!isIdle && looks < LOOKS_MAX) return;
    clearInterval(timer);
    if (isIdle) act();
  }, lookMs);
  timer.unref();
}

/** Never rejects. */
export async function collectAll(): Promise<void> {
  const inspector = await import("node:inspector").catch(() => undefined);
  if (inspector === undefined) return;
  const session: Session = new inspector.Session();
  session.connect();
  await new Promise<void>((resolve) => session.post("HeapProfiler.collectGarbage", () => resolve()));
  // Within its own answer a session cannot be ended: on Node 20 the process would stand still.
  await new Promise((resolve) => setImmediate(resolve));
  session.disconnect();
}
