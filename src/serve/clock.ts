/** The clock of this process: the store's time, counted by the machine's monotonic clock. */
import { uptime } from "node:os";
import { Clock, type TimeSource } from "../clock/clock.js";
import type { Log } from "../observe/log.js";

/** The machine's own time of day: it decides nothing, and tells how wrong it is. */
export const machineMs = Date.now;

/** Resolves once the store was asked for the time. Rejects where it does not answer. */
export function startClock(source: TimeSource, log: Log): Promise<Clock> {
  return Clock.start({
    source,
    machineMs,
    monotonicMs: () => performance.now(),
    uptimeMs: () => uptime() * 1_000,
    log,
  });
}
