/**
 * Gives memory back while nobody waits. V8 lets the young generation grow at the start and under load, to 46 MB on Node
 * 26, and collects only when something is allocated: a process that became idle would keep all of it.
 */
import { Session } from "node:inspector";

const TICK_MS = 1_000;
/** More CPU than this in one tick is work. */
const BUSY_MS = 30;
/** The start leaves the most, and the first calls may come soon after it. */
const START_TICKS = 1;
/** Later a collection waits longer, since it holds the event loop while it runs. */
const IDLE_TICKS = 60;
/** Work that leaves something worth a collection. */
const WORK_MS = 1_000;

export interface IdleMemoryOptions {
  /** All CPU time of the process so far, in milliseconds. */
  readonly cpuMs: () => number;
  readonly collect: () => void;
}

/** Says when to collect, from one tick to the next. */
export class IdleMemory {
  readonly #options: IdleMemoryOptions;
  #seenMs: number;
  /** The start is work too. */
  #workMs = WORK_MS;
  #idleTicks = 0;
  #ticksNeeded = START_TICKS;

  constructor(options: IdleMemoryOptions) {
    this.#options = options;
    this.#seenMs = options.cpuMs();
  }

  tick(): void {
    const nowMs = this.#options.cpuMs();
    const usedMs = nowMs - this.#seenMs;
    this.#seenMs = nowMs;
    this.#workMs += usedMs;
    this.#idleTicks = usedMs > BUSY_MS ? 0 : this.#idleTicks + 1;
    if (this.#idleTicks < this.#ticksNeeded || this.#workMs < WORK_MS) return;
    this.#ticksNeeded = IDLE_TICKS;
    this.#options.collect();
    this.#workMs = 0;
    this.#seenMs = this.#options.cpuMs();
  }
}

/** Collects all that can be, and gives the room back to the system, in a turn of its own. */
export function collectGarbage(done: () => void = () => undefined): void {
  const session = new Session();
  session.connect();
  session.post("HeapProfiler.collectGarbage", () => {
    // Within its own answer a session cannot be ended: on Node 20 the process would stand still.
    setImmediate(() => {
      session.disconnect();
      done();
    });
  });
}

/** Watches this process; the timer keeps nothing alive. */
export function watchIdleMemory(): { close(): void } {
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  const memory = new IdleMemory({ cpuMs, collect: collectGarbage });
  const timer = setInterval(() => memory.tick(), TICK_MS).unref();
  return { close: () => clearInterval(timer) };
}
