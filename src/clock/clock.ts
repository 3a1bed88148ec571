/**
 * The time that decides days, windows, exports and ends: the store's. It is looked at every ten seconds, and counted by
 * the monotonic clock between two looks, so that a question for the time waits for nothing.
 */
import type { Log } from "../observe/log.js";

/** Where the time comes from. */
export type TimeSource =
  /** A process that all nodes ask: the database, or the owner of an embedded one. `read` gives milliseconds. */
  | { readonly kind: "server"; readonly name: string; readonly read: () => Promise<number> }
  /** This machine alone. `lastMs`: the latest time that its store has seen; undefined where it is new. */
  | { readonly kind: "machine"; readonly lastMs: number | undefined };

export interface ClockOptions {
  readonly source: TimeSource;
  /** The machine's time of day, in milliseconds. */
  readonly machineMs: () => number;
  /** The clock of durations, which stands while the machine is suspended. */
  readonly monotonicMs: () => number;
  /** How long the machine is up, suspended time included. */
  readonly uptimeMs: () => number;
  readonly log: Log;
}

const LOOK_MS = 10_000;
/** A machine whose clock is further off is told of. A step of the machine's clock is one that is larger. */
export const SKEW_MS = 5_000;
/** Without a database, a clock that was set is believed once it stood for so long. */
const STOOD_MS = 600_000;
/** Systems tell their uptime in seconds. */
const SUSPENDED_MS = 2_000;
/** How long looks may fail before that is told. */
const FAILING_MS = 60_000;

const OFF = "the machine's clock differs by more than 5 s from the gateway's clock";
const AGREES = "the machine's clock agrees again";
const MOVED = "the clock of this node moved: it was set, or the machine was suspended";
const FAILING = "the database's time cannot be read: the node uses its own clock";

/** Two times of one moment. */
interface Seen {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export class Clock {
  readonly #options: ClockOptions;
  /** The time at `#atMs` of the monotonic clock. */
  #fromMs = 0;
  #atMs = 0;
  /** How far it was ahead of its source then: it goes at half speed until they meet, and never back. */
  #aheadMs = 0;
  #lookMs: number | undefined;
  #uptimeMs: number;
  /** Since when the machine's clock says what it says now, where that is another time. */
  #set: Seen | undefined;
  #toldSkewMs: number | undefined;
  #isToldFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: ClockOptions) {
    this.#options = options;
    this.#uptimeMs = options.uptimeMs();
  }

  /** Resolves after the first look, and looks again every ten seconds. Rejects where the first one fails. */
  static async start(options: ClockOptions): Promise<Clock> {
    const clock = new Clock(options);
    if (options.source.kind === "server") await clock.#ask(options.source.read, true);
    else clock.#begin(options.source.lastMs);
    clock.#tell();
    clock.#lookLater();
    return clock;
  }

  /** The time in whole milliseconds since 1970. */
  readonly nowMs = (): number => Math.floor(this.#timeAt(this.#options.monotonicMs()));

  /** How far the machine's clock is ahead of the time; negative: behind it. */
  get skewMs(): number {
    return this.#options.machineMs() - this.nowMs();
  }

  /** How long ago the source was read. */
  get lookAgeMs(): number {
    return this.#options.monotonicMs() - (this.#lookMs ?? this.#atMs);
  }

  /** Reads the source now. Never rejects. Who asks while it reads shares that. */
  async look(): Promise<void> {
    this.#running ??= this.#look().finally(() => (this.#running = undefined));
    await this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.look().then(() => this.#lookLater()), LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    const { source } = this.#options;
    try {
      if (source.kind === "server") await this.#ask(source.read, false);
      else this.#seeMachine();
      this.#isToldFailing = false;
    } catch (err) {
      if (this.lookAgeMs >= FAILING_MS && !this.#isToldFailing) {
        this.#isToldFailing = true;
        this.#options.log.warn({ err, look_age_seconds: Math.round(this.lookAgeMs / 1_000) }, FAILING);
      }
    }
    this.#tell();
  }

  #timeAt(monotonicMs: number): number {
    const passedMs = monotonicMs - this.#atMs;
    return this.#fromMs + passedMs - Math.min(passedMs / 2, this.#aheadMs);
  }

  /** The server read its clock at some moment between the question and its answer: half of that time is the error. */
  async #ask(read: () => Promise<number>, isFirst: boolean): Promise<void> {
    const sentMs = this.#options.monotonicMs();
    const serverMs = await read();
    const heardMs = this.#options.monotonicMs();
    const errorMs = (heardMs - sentMs) / 2;
    const targetMs = serverMs + errorMs;
    this.#lookMs = heardMs;
    if (isFirst) return this.#step(targetMs, heardMs);
    const changeMs = targetMs - this.#timeAt(heardMs);
    if (Math.abs(changeMs) <= errorMs) return;
    if (Math.abs(changeMs) <= SKEW_MS + errorMs) return this.#approach(targetMs, heardMs);
    // All nodes follow the one server, also where it goes back: else they would not agree on the day.
    this.#step(targetMs, heardMs);
    this.#tellMoved(changeMs);
  }

  /** A clock that was set back opens no day that is over. */
  #begin(lastMs: number | undefined): void {
    const { machineMs, monotonicMs } = this.#options;
    const [wallMs, nowMs] = [machineMs(), monotonicMs()];
    this.#lookMs = nowMs;
    this.#step(Math.max(wallMs, lastMs ?? wallMs), nowMs);
    this.#approach(wallMs, nowMs);
  }

  #seeMachine(): void {
    const { machineMs, monotonicMs, uptimeMs } = this.#options;
    const [wallMs, nowMs, upMs] = [machineMs(), monotonicMs(), uptimeMs()];
    const suspendedMs = upMs - this.#uptimeMs - (nowMs - (this.#lookMs ?? nowMs));
    this.#uptimeMs = upMs;
    this.#lookMs = nowMs;
    if (suspendedMs >= SUSPENDED_MS) this.#step(this.#timeAt(nowMs) + suspendedMs, nowMs);
    const changeMs = wallMs - this.#timeAt(nowMs);
    if (Math.abs(changeMs) <= SKEW_MS) {
      this.#set = undefined;
      return this.#approach(wallMs, nowMs);
    }
    const set = this.#set;
    if (set === undefined || Math.abs(wallMs - set.wallMs - (nowMs - set.monotonicMs)) > SKEW_MS) {
      this.#set = { wallMs, monotonicMs: nowMs };
    } else if (nowMs - set.monotonicMs >= STOOD_MS) {
      this.#approach(wallMs, nowMs);
      if (changeMs > 0) this.#tellMoved(changeMs);
    }
  }

  /** The target at once where it is later, else at half speed until they meet. */
  #approach(targetMs: number, monotonicMs: number): void {
    const nowMs = this.#timeAt(monotonicMs);
    this.#step(Math.max(targetMs, nowMs), monotonicMs);
    this.#aheadMs = Math.max(0, nowMs - targetMs);
  }

  #step(targetMs: number, monotonicMs: number): void {
    this.#fromMs = targetMs;
    this.#atMs = monotonicMs;
    this.#aheadMs = 0;
  }

  #tellMoved(changeMs: number): void {
    this.#options.log.warn({ change_seconds: seconds(changeMs) }, MOVED);
  }

  /** Once, and again where it is far more or less than what was told. */
  #tell(): void {
    const { source, log } = this.#options;
    const { skewMs } = this;
    const by = source.kind === "server" ? source.name : "this process";
    const told = this.#toldSkewMs;
    if (Math.abs(skewMs) <= SKEW_MS) {
      this.#toldSkewMs = undefined;
      if (told !== undefined) log.info({ skew_seconds: seconds(skewMs), by }, AGREES);
    } else if (told === undefined || Math.abs(skewMs - told) > SKEW_MS + Math.abs(told) / 2) {
      this.#toldSkewMs = skewMs;
      log.error({ skew_seconds: seconds(skewMs), by }, OFF);
    }
  }
}

function seconds(ms: number): number {
  return Math.round(ms) / 1_000;
}
