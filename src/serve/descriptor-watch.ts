/** Says once that no file descriptor is left, what to do about it, and once that there are some again. */
import { readFileSync } from "node:fs";
import type { Log } from "../observe/log.js";
import { isOutOfDescriptors } from "../upstream/descriptors.js";

const LOOK_MS = 1_000;
/** So long must it go well before it counts as over: under load some are free for a moment again and again. */
const WELL_MS = 30_000;

const OUT =
  "no file descriptor is left: connections of clients are dropped, and requests that need a new connection to an upstream get 503;" +
  " raise LimitNOFILE in the systemd unit, or 'ulimit -n' before the start, to two for each stream and some";
const WELL = "there are file descriptors again";

export class DescriptorWatch {
  #lastOutMs: number | undefined;

  constructor(
    private readonly log: Pick<Log, "error" | "warn">,
    private readonly nowMs: () => number,
    private readonly isOut: () => boolean = isOutOfDescriptors,
  ) {}

  /** Looks from now on, and keeps no process alive. */
  start(): void {
    setInterval(() => this.look(), LOOK_MS).unref();
  }

  look(): void {
    if (this.isOut()) return this.met();
    if (this.#lastOutMs === undefined || this.nowMs() - this.#lastOutMs < WELL_MS) return;
    this.#lastOutMs = undefined;
    this.log.warn({}, WELL);
  }

  /** Something failed for want of one. */
  met(): void {
    if (this.#lastOutMs === undefined) this.log.error({ open_files_max: OPEN_FILES_MAX }, OUT);
    this.#lastOutMs = this.nowMs();
  }
}

/** As Linux tells it; undefined elsewhere. Read at the start: later there may be no descriptor to read it by. */
const OPEN_FILES_MAX = openFilesMax();

function openFilesMax(): number | undefined {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]) || undefined;
  } catch {
    return undefined;
  }
}
