/** Gives back what a start left in memory, before it says that it is ready. */
import type { Session } from "node:inspector";

/** A collection takes some 20 ms; a start waits no longer than this for one. */
const COLLECT_MS_MAX = 1_000;

/**
 * Collects all that can be. V8 lets the young generation grow while modules load, to 46 MB on Node 26, and collects
 * only when something is allocated: a process that is idle after its start would keep all of it. Does nothing where
 * Node was built without an inspector. Never rejects.
 */
export async function giveBackStartMemory(): Promise<void> {
  const inspector = await import("node:inspector").catch(() => undefined);
  if (inspector === undefined) return;
  const session = new inspector.Session();
  session.connect();
  await collected(session);
  session.disconnect();
}

async function collected(session: Session): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const answer = new Promise<void>((resolve) => session.post("HeapProfiler.collectGarbage", () => resolve()));
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, COLLECT_MS_MAX)));
  await Promise.race([answer, late]);
  clearTimeout(timer);
  // Within its own answer a session cannot be ended: on Node 20 the process would stand still.
  await new Promise((resolve) => setImmediate(resolve));
}
