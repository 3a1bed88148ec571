/** One timer for all running streams: it keeps idle ones alive and cuts those whose reader does not read. */
import { listeningClock } from "../base/event-loop/listening-clock.js";
import { Roster, type RosterEntry } from "../base/roster.js";

/** A client that waits for a stream gets a comment, or a ping, after so long without a word. */
const HEARTBEAT_MS = 10_000;

/** A stream, as the timer sees it. */
export interface Ticking extends RosterEntry {
  /** Called a few times in each heartbeat interval. */
  onTick(nowMs: number): void;
}

export class HeartbeatTimer {
  readonly nowMs: () => number;
  /** The clock by which readers are waited for. */
  readonly listeningMs: () => number;
  readonly #heartbeatMs: number;
  readonly #streams = new Roster<Ticking>();
  #timer: NodeJS.Timeout | undefined;

  constructor(heartbeatMs = HEARTBEAT_MS, nowMs: () => number, listeningMs = nowMs) {
    this.#heartbeatMs = heartbeatMs;
    this.nowMs = nowMs;
    this.listeningMs = listeningMs;
  }

  /** True where a client heard nothing for a whole interval. */
  isDue(lastMs: number, nowMs: number): boolean {
    return nowMs - lastMs >= this.#heartbeatMs;
  }

  add(stream: Ticking): void {
    this.#streams.add(stream);
    const everyMs = Math.max(5, Math.min(1_000, this.#heartbeatMs / 4));
    this.#timer ??= listeningClock.every(everyMs, () => this.#tick());
  }

  remove(stream: Ticking): void {
    this.#streams.remove(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const nowMs = this.nowMs();
    for (const stream of this.#streams) stream.onTick(nowMs);
  }
}
