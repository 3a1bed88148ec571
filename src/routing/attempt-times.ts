/** How long each phase of an attempt may take, and when the one that runs is over. */
import { listeningClock } from "../base/event-loop/listening-clock.js";
import type { AnswerReport } from "../wire/wire.js";
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
  /** What came of the answer so far. */
  readonly report: AnswerReport | undefined;
}

/** Events without content may come while an upstream runs tools, but not for longer than so many first tokens take. */
const EMPTY_TIMES = 2;

/** All but `lastReadMs` is of the clock that stands while this process reads nothing. */
export class AttemptTimes {
  /** Since when the upstream can be at work. */
  #startMs = listeningClock.nowMs();
  /** On the monotonic clock, for whoever measures. */
  lastReadMs = performance.now();
  #heardMs = this.#startMs;
  /** When output came last, or the head: pings are read, and are no life. */
  #outputMs = this.#startMs;
  /** When output came last that had content, as far as was looked, and how much there was by then. */
  #contentMs = this.#startMs;
  #content = 0;
  /** When reading on ends, once the client left. */
  #readOnEndMs: number | undefined;

  constructor(
    private readonly timeouts: RequestTimeouts,
    private readonly deadline: Deadline,
    /** True where another target can take the request over. */
    private readonly hasOther = false,
  ) {}

  /** True once the client left, and its answer is read on. */
  get isReadOn(): boolean {
    return this.#readOnEndMs !== undefined;
  }

  /** How long there was no output. */
  get silentMs(): number {
    return listeningClock.nowMs() - this.#outputMs;
  }

  /** The request goes out. */
  start(): void {
    this.#startMs = listeningClock.nowMs();
  }

  /** Something was read. */
  read(): void {
    this.lastReadMs = performance.now();
    this.#heardMs = listeningClock.at(this.lastReadMs);
  }

  /** What was read last has output. */
  hasOutput(): void {
    this.#outputMs = this.#heardMs;
  }

  /** Something was read that is life. */
  revive(): void {
    this.read();
    this.hasOutput();
    this.#contentMs = this.#heardMs;
  }

  readOn(): void {
    this.#readOnEndMs = listeningClock.nowMs() + this.timeouts.readOnMs;
  }

  /** Sleeps until the phase is over, and no longer than the shortest that may have begun meanwhile; then calls back. */
  nap(state: PhaseState, isStreamAsked: boolean, look: () => void): NodeJS.Timeout {
    const { idleMs, lingerMs } = this.timeouts;
    const [dueMs] = this.due(state);
    const mostMs = isStreamAsked ? Math.min(idleMs, lingerMs) : idleMs;
    // What is complete is looked at as soon as it has been silent for long enough.
    const silentAtMs = state.report?.complete === true ? this.#outputMs + lingerMs : Infinity;
    const restMs = Math.min(dueMs, silentAtMs) - listeningClock.nowMs();
    const napMs = Math.max(0, Math.ceil(Math.min(restMs, mostMs)));
    const ringsMs = performance.now() + napMs;
    return setTimeout(() => {
      // Where it rings late, what the upstream sent meanwhile may not be read yet.
      listeningClock.ran(ringsMs);
      look();
    }, napMs);
  }

  /** When the phase that runs is too long, and its name. Each has its own bound; the total bounds all. */
  due(state: PhaseState): readonly [number, string] {
    // The deadline is the caller's too, whose time goes on.
    const endMs = Math.min(listeningClock.at(this.deadline.endMs), this.#startMs + this.timeouts.totalMs);
    if (this.#readOnEndMs !== undefined) return [this.#readOnEndMs, "read on"];
    const [phaseEndMs, phase] = this.#phaseDue(state);
    return phaseEndMs < endMs ? [phaseEndMs, phase] : [endMs, "total"];
  }

  /** True where nothing was read for so long that what is over may be left. */
  get hasLingered(): boolean {
    return listeningClock.nowMs() - this.#heardMs >= this.timeouts.lingerMs;
  }

  /** The same of output. */
  get isSilent(): boolean {
    return this.silentMs >= this.timeouts.lingerMs;
  }

  #phaseDue({ phase, isStream, hasOutput, hasBytes, isPaused, report }: PhaseState): readonly [number, string] {
    const { firstTokenMs, takeoverMs, wholeMs, idleMs, lingerMs } = this.timeouts;
    // Why it refuses is worth a moment, and no more: another target may answer meanwhile.
    if (phase === "error") return [this.#outputMs + lingerMs, "error"];
    // All of it is here, and nothing more is the upstream's to do.
    if (phase === "reading") return [Infinity, "reading"];
    const beginMs = this.hasOther ? Math.min(takeoverMs ?? Infinity, firstTokenMs) : firstTokenMs;
    if (isStream && !hasOutput) return [this.#startMs + beginMs, "first token"];
    if (!isStream && !hasBytes) return [this.#startMs + wholeMs, "first byte"];
    if (isPaused) return [Infinity, "idle"];
    // Behind pings the next word may take as long as the first one may: some upstreams gather a call's arguments so.
    if (!isStream) return [this.#heardMs + idleMs, "idle"];
    const nextWordMs = Math.max(firstTokenMs, idleMs);
    const contentEndMs = this.#lastContentMs(report) + EMPTY_TIMES * nextWordMs;
    return [Math.min(this.#heardMs + idleMs, this.#outputMs + nextWordMs, contentEndMs), "idle"];
  }

  #lastContentMs(report: AnswerReport | undefined): number {
    const content = contentOf(report);
    if (content !== this.#content) this.#contentMs = this.#outputMs;
    this.#content = content;
    return this.#contentMs;
  }
}

/** Grows with all that is content: text, and estimates of what is none. */
function contentOf(report: AnswerReport | undefined): number {
  if (report === undefined) return 0;
  const { grown, nonTextTokens = 0, audioTokens = 0, unknownTokens = 0, toolUses = [] } = report;
  return (grown?.length ?? 0) + nonTextTokens + audioTokens + unknownTokens + toolUses.length;
}
