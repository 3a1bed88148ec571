/**
 * The clock by which others are waited for. It stands while this process reads nothing, because its event loop is held
 * or the process is suspended: that time is no fault of a client or of an upstream.
 */

/** A timer that runs so much later than it should says that the loop was held. In shorter turns enough is read. */
const LATE_MS_MIN = 1_000;
/** How long others have after a stall, at most, until what they sent meanwhile has been read. */
const CATCH_UP_MS_MAX = 1_000;
/** How much earlier than a late timer was due the stall may have begun. */
const BEFORE_DUE_MS_MAX = 1_000;

export class ListeningClock {
  readonly #monotonicMs: () => number;
  #stalledMs = 0;
  /** What the clock showed behind the last stall: it never shows less. */
  #leastMs = 0;
  /** When a timer ran last that told this clock so, on the monotonic clock: until then the event loop ran. */
  #ranMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** How much of the monotonic time so far does not count. */
  get stalledMs(): number {
    return this.#stalledMs;
  }

  /** Milliseconds. After a stall it may be up to a second less than before. */
  readonly nowMs = (): number => this.#monotonicMs() - this.#stalledMs;

  /** What this clock shows at a moment of the monotonic clock that was read just now. */
  at(monotonicMs: number): number {
    return monotonicMs - this.#stalledMs;
  }

  /** A timer that was due at `dueMs` of the monotonic clock runs now. True where it is so late that time was lost. */
  ran(dueMs: number): boolean {
    const nowMs = this.#monotonicMs();
    // Of one stall many timers tell, the one that was due first before the others.
    const lostMs = nowMs - Math.max(this.#ranMs, dueMs - BEFORE_DUE_MS_MAX);
    this.#ranMs = nowMs;
    if (nowMs - dueMs < LATE_MS_MIN || lostMs < LATE_MS_MIN) return false;
    this.#stalledMs += lostMs;
    const shownMs = nowMs - this.#stalledMs;
    // At most half of what it went on since the stall before: with one stall behind the other it would stand for ever.
    this.#stalledMs += Math.max(0, Math.min(CATCH_UP_MS_MAX, (shownMs - this.#leastMs) / 2));
    this.#leastMs = nowMs - this.#stalledMs;
    return true;
  }

  /** As setInterval, which this clock learns stalls from. `unref`ed. */
  every(everyMs: number, act: () => void): NodeJS.Timeout {
    let dueMs = this.#monotonicMs() + everyMs;
    return setInterval(() => {
      this.ran(dueMs);
      dueMs = this.#monotonicMs() + everyMs;
      act();
    }, everyMs).unref();
  }

  /** As setTimeout, in the time of this clock. */
  after(waitMs: number, act: () => void): Waiting {
    return new Waiting(this, waitMs, act);
  }

  /** How long a timer takes until this clock shows `dueMs`, in whole milliseconds. */
  leftMs(dueMs: number): number {
    return Math.max(0, Math.ceil(dueMs - this.nowMs()));
  }
}

/** A timer that waits longer where the event loop was held. */
export class Waiting {
  readonly #clock: ListeningClock;
  readonly #dueMs: number;
  readonly #act: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isRef = true;

  constructor(clock: ListeningClock, waitMs: number, act: () => void) {
    this.#clock = clock;
    this.#dueMs = clock.nowMs() + waitMs;
    this.#act = act;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  unref(): this {
    this.#isRef = false;
    this.#timer?.unref();
    return this;
  }

  #arm(): void {
    const waitMs = this.#clock.leftMs(this.#dueMs);
    const ringsMs = performance.now() + waitMs;
    this.#timer = setTimeout(() => {
      this.#clock.ran(ringsMs);
      if (this.#clock.leftMs(this.#dueMs) > 0) this.#arm();
      else this.#act();
    }, waitMs);
    if (!this.#isRef) this.#timer.unref();
  }
}

/** The one of this process: every timer that looks after others tells it how late it runs. */
export const listeningClock = new ListeningClock(() => performance.now());
