/**
 * Named places on the way of money where a test can make the process fail. Off unless TOLLGATE_FAILPOINTS names them.
 */
import { writeSync } from "node:fs";

/** Every failpoint there is. */
export const FAILPOINTS = [
  "before_hold",
  "after_hold_commit",
  "after_admission",
  "before_checkpoint",
  "after_checkpoint_commit",
  "before_settle",
  "after_settle_commit",
  "before_last_bytes",
  "before_commit",
  "during_commit",
  "after_commit",
  "during_recovery",
  "after_recovery_commit",
] as const;
export type Failpoint = (typeof FAILPOINTS)[number];

const ACTIONS = ["throw", "throw_once", "stall", "kill"] as const;
type Action = (typeof ACTIONS)[number];

interface Armed {
  readonly action: Action;
  /** Acts from this pass on, counted from 1; what acts once acts at this pass alone. */
  readonly fromPass: number;
  passes: number;
}

/** What a failpoint throws: as if the work at that place had failed before it did anything. */
export class FailpointError extends Error {}

const STALL_MS = 2_000;
let armed = readFailpoints(process.env["TOLLGATE_FAILPOINTS"]);

/**
 * Reads `before_settle=kill,after_hold_commit=throw:3`: a name, what to do, and from which pass on. Throws an Error of
 * one line.
 */
export function readFailpoints(text: string | undefined): Map<Failpoint, Armed> | undefined {
  if (text === undefined || text === "") return undefined;
  const points = new Map<Failpoint, Armed>();
  for (const item of text.split(",")) {
    const match = /^(\w+)=(\w+)(?::(\d+))?$/.exec(item.trim());
    const name = FAILPOINTS.find((known) => known === match?.[1]);
    const action = ACTIONS.find((known) => known === match?.[2]);
    if (name === undefined || action === undefined) {
      throw new Error(`TOLLGATE_FAILPOINTS: '${item}' must be name=${ACTIONS.join("|")}, of ${FAILPOINTS.join(", ")}`);
    }
    points.set(name, { action, fromPass: Number(match?.[3] ?? 1), passes: 0 });
  }
  return points;
}

/** Puts others on, in this thread, for tests that run the parts in their own process; undefined puts all off. */
export function armFailpoints(points: ReturnType<typeof readFailpoints>): void {
  armed = points;
}

/** True where any failpoint is on, so that the start can say so. */
export function failpointsAreOn(): boolean {
  return armed !== undefined;
}

/** Marks a place. Costs one comparison where no failpoint is on. */
export function failpoint(name: Failpoint): void {
  if (armed === undefined) return;
  const point = armed.get(name);
  if (point === undefined) return;
  point.passes += 1;
  if (point.passes < point.fromPass || (point.action === "throw_once" && point.passes > point.fromPass)) return;
  // At once, and whatever follows: a test must know that it was reached.
  if (point.passes === point.fromPass) writeSync(2, `failpoint ${name}=${point.action}\n`);
  switch (point.action) {
    case "throw":
    case "throw_once":
      throw new FailpointError(`failpoint ${name}`);
    case "stall":
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
      return;
    case "kill":
      process.kill(process.pid, "SIGKILL");
      return;
    default:
      point.action satisfies never;
  }
}
