/** How long each phase of an attempt may take, and when the one that runs is over. */
import type { Deadline, RequestTimeouts } from "./deadline.js";

/** What decides about it, as it is now. */
export interface PhaseState {
  readonly phase: "head" | "stream" | "whole" | "reading" | "error" | "done";
  readonly isStream: boolean;
  /** True once something came that a client sees. */
  readonly hasOutput: boolean;
  /** True once any byte of the answer came. */
  readonly hasBytes: boolean;
  /** True while its reader wants no more. */
  readonly isPaused: boolean;
}

export class AttemptTimes {
  /** Since when the upstream can be at work. */
  startMs = performance.now();
  lastReadMs = this.startMs;
  /** When output came last, or the head: pings are read, and are no life. */
  lastOutputMs = this.startMs;
  /** When reading on ends, once the client left. */
  readOnEndMs: number | undefined;

  constructor(
    private readonly timeouts: RequestTimeouts,
    private readonly deadline: Deadline,
  ) {}

  /** Something was read that is life. */
  revive(): void {
    this.lastReadMs = performance.now();
    this.lastOutputMs = this.lastReadMs;
  }

  readOn(): void {
    this.readOnEndMs = performance.now() + this.timeouts.readOnMs;
  }

  /** How long to sleep: until the phase is over, and no longer than the shortest that may have begun meanwhile. */
  napMs(state: PhaseState, isStreamAsked: boolean): number {
    const { idleMs, lingerMs } = this.timeouts;
    const [dueMs] = this.due(state);
    const napMs = isStreamAsked ? Math.min(idleMs, lingerMs) : idleMs;
    return Math.max(0, Math.ceil(Math.min(dueMs - performance.now(), napMs)));
  }

  /** When the phase that runs is too long, and its name. Each has its own bound; the total bounds all. */
  due(state: PhaseState): readonly [number, string] {
    const { endMs } = this.deadline;
    if (this.readOnEndMs !== undefined) return [this.readOnEndMs, "read on"];
    const [phaseEndMs, phase] = this.#phaseDue(state);
    return phaseEndMs < endMs ? [phaseEndMs, phase] : [endMs, "total"];
  }

  /** True where nothing was read for so long that what is over may be left. */
  hasLingered(nowMs: number): boolean {
    return nowMs - this.lastReadMs >= this.timeouts.lingerMs;
  }

  /** The same of output. */
  isSilent(nowMs: number): boolean {
    return nowMs - this.lastOutputMs >= this.timeouts.lingerMs;
  }

  #phaseDue({ phase, isStream, hasOutput, hasBytes, isPaused }: PhaseState): readonly [number, string] {
    const { firstTokenMs, wholeMs, idleMs, lingerMs } = this.timeouts;
    // Why it refuses is worth a moment, and no more: another target may answer meanwhile.
    if (phase === "error") return [this.lastOutputMs + lingerMs, "error"];
    // All of it is here, and nothing more is the upstream's to do.
    if (phase === "reading") return [Infinity, "reading"];
    if (isStream && !hasOutput) return [this.startMs + firstTokenMs, "first token"];
    if (!isStream && !hasBytes) return [this.startMs + wholeMs, "first byte"];
    if (isPaused) return [Infinity, "idle"];
    // Behind pings the next word may take as long as the first one may: some upstreams gather a call's arguments so.
    const outputEndMs = isStream ? this.lastOutputMs + firstTokenMs : Infinity;
    return [Math.min(this.lastReadMs + idleMs, outputEndMs), "idle"];
  }
}
