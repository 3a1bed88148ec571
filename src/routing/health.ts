/** The health of one upstream: when to set it aside, for how long, and how much may be tried again. */

const FAILURES_TO_COOL = 5;
const WINDOW_MS = 30_000;
const WINDOW_REQUESTS_MIN = 20;
const COOL_MS = 30_000;
const COOL_MS_MAX = 300_000;
// Retries may be a tenth of the requests, and a few more so that a quiet gateway can retry at all.
const RETRY_SHARE = 0.1;
const RETRY_RESERVE = 3;

export type HealthState = "healthy" | "cooling" | "refused";

/** Counts what an upstream's answers say of its health. Time comes in as milliseconds of one clock. */
export class Health {
  #consecutiveFailures = 0;
  #ejections = 0;
  #coolUntilMs = 0;
  #waitUntilMs = 0;
  #refused = false;
  #probing = false;
  #windowStartMs = 0;
  #windowRequests = 0;
  #windowFailures = 0;
  #retryTokens = RETRY_RESERVE;
  running = 0;

  state(nowMs: number): HealthState {
    if (this.#refused) return "refused";
    return this.coolingMs(nowMs) > 0 ? "cooling" : "healthy";
  }

  /** How long it stays set aside, in milliseconds. */
  coolingMs(nowMs: number): number {
    return Math.max(0, this.#coolUntilMs - nowMs, this.#waitUntilMs - nowMs);
  }

  /** How long the upstream itself asked to wait, in milliseconds; 0 where it did not. */
  waitMs(nowMs: number): number {
    return Math.max(0, this.#waitUntilMs - nowMs);
  }

  /** True where a request may go there now. After a pause one request is let through, to see. */
  admits(nowMs: number): boolean {
    if (this.state(nowMs) !== "healthy") return false;
    return !(this.#recovering() && this.#probing);
  }

  begin(nowMs: number): void {
    this.running += 1;
    this.#probing = this.#recovering();
    this.#retryTokens = Math.min(RETRY_RESERVE + 100, this.#retryTokens + RETRY_SHARE);
    if (nowMs - this.#windowStartMs > WINDOW_MS) {
      this.#windowStartMs = nowMs;
      this.#windowRequests = 0;
      this.#windowFailures = 0;
    }
    this.#windowRequests += 1;
  }

  end(): void {
    this.running -= 1;
    this.#probing = false;
  }

  succeed(nowMs: number): void {
    this.#consecutiveFailures = 0;
    // What was sent before it was set aside proves nothing of now.
    if (nowMs >= this.#coolUntilMs) this.#ejections = 0;
  }

  /** The upstream failed: no connection, a 5xx, too slow. */
  fail(nowMs: number): void {
    this.#consecutiveFailures += 1;
    this.#windowFailures += 1;
    const mostFail = this.#windowRequests >= WINDOW_REQUESTS_MIN && this.#windowFailures * 2 > this.#windowRequests;
    if (this.#consecutiveFailures >= FAILURES_TO_COOL || this.#recovering() || mostFail) {
      this.#ejections += 1;
      this.#consecutiveFailures = 0;
      this.#windowRequests = 0;
      this.#windowFailures = 0;
      this.#coolUntilMs = nowMs + Math.min(COOL_MS * this.#ejections, COOL_MS_MAX);
    }
  }

  /** The upstream asks to wait: its own rate limit is reached. */
  wait(nowMs: number, durationMs: number): void {
    this.#waitUntilMs = Math.max(this.#waitUntilMs, nowMs + Math.min(durationMs, COOL_MS_MAX));
  }

  /** The upstream does not take our credential: only an operator can mend that. */
  refuse(): void {
    this.#refused = true;
  }

  /** Takes it back into use at once. */
  reset(): void {
    this.#refused = false;
    this.#probing = false;
    this.#waitUntilMs = 0;
    this.#coolUntilMs = 0;
    this.#ejections = 0;
    this.#consecutiveFailures = 0;
    this.#retryTokens = RETRY_RESERVE;
    // Else the next failure, in a window of failures, would set it aside again.
    this.#windowRequests = 0;
    this.#windowFailures = 0;
  }

  /** Takes one retry out of the budget; false where there is none left. */
  spendRetry(): boolean {
    if (this.#retryTokens < 1) return false;
    this.#retryTokens -= 1;
    return true;
  }

  #recovering(): boolean {
    return this.#ejections > 0;
  }
}
