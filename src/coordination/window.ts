/**
 * A sliding window of 61 buckets of one second, so that no 60 seconds hold more than the limit. `redis-script.ts` has
 * the same rule in Lua: both change together.
 */
import type { WindowState } from "./coordination.js";

/**
 * The whole oldest second counts, though part of it has left the 60 seconds: that costs a late second and never admits
 * too much.
 */
const BUCKET_COUNT = 61;
export const BUCKET_MS = 1000;

/** Amounts by the second in which they were taken. Times never go back. */
export class Window {
  /** Sums stay exact up to 2^53: a limit is at most 10^9, and a correction at most what one request used. */
  readonly #buckets = new Float64Array(BUCKET_COUNT);
  /** The second up to which the buckets are cleared. */
  #second: number;
  /** No bucket after this second holds anything. */
  #newest: number;
  #sum = 0;

  constructor(nowMs: number) {
    this.#second = secondOf(nowMs);
    this.#newest = this.#second;
  }

  /** What is taken at the time. */
  sum(nowMs: number): number {
    this.#advance(secondOf(nowMs));
    return this.#sum;
  }

  take(nowMs: number, amount: number): void {
    if (amount === 0) return;
    this.#advance(secondOf(nowMs));
    this.#newest = this.#second;
    this.#add(this.#second, amount);
  }

  /** Changes what was taken at a time, down to nothing; where that has left the window, nothing is left to change. */
  correct(nowMs: number, takenAtMs: number, change: number): void {
    this.#advance(secondOf(nowMs));
    const second = secondOf(takenAtMs);
    if (second > this.#second || second <= this.#second - BUCKET_COUNT) return;
    this.#newest = Math.max(this.#newest, second);
    this.#add(second, Math.max(change, -this.#at(second)));
  }

  /**
   * How long until `amount` fits below the limit if nothing else is taken; where it never can, until the window is
   * empty, and at least a second.
   */
  waitMs(nowMs: number, limit: number, amount: number): number {
    let excess = this.sum(nowMs) + amount - limit;
    if (excess <= 0) return 0;
    for (let second = this.#second - BUCKET_COUNT + 1; second <= this.#newest; second++) {
      const held = this.#at(second);
      excess -= held;
      if (held > 0 && excess <= 0) return leavesAtMs(second) - nowMs;
    }
    return Math.max(this.#emptyAfterMs(nowMs), BUCKET_MS);
  }

  state(nowMs: number, limit: number): WindowState {
    const sum = this.sum(nowMs);
    return { limit, remaining: Math.max(0, Math.floor(limit - sum)), resetMs: this.#emptyAfterMs(nowMs) };
  }

  #emptyAfterMs(nowMs: number): number {
    if (this.#sum === 0) return 0;
    while (this.#at(this.#newest) === 0) this.#newest -= 1;
    return leavesAtMs(this.#newest) - nowMs;
  }

  /** Clears the buckets of the seconds that came since: at most all of them. */
  #advance(second: number): void {
    if (second <= this.#second) return;
    if (second - this.#second >= BUCKET_COUNT) {
      this.#buckets.fill(0);
      this.#sum = 0;
    } else if (this.#sum > 0) {
      // No bucket is below nothing, so that an empty sum has nothing to clear.
      for (let next = this.#second + 1; next <= second; next++) {
        this.#sum -= this.#at(next);
        this.#buckets[next % BUCKET_COUNT] = 0;
      }
    }
    this.#second = second;
  }

  #at(second: number): number {
    return this.#buckets[second % BUCKET_COUNT] ?? 0;
  }

  #add(second: number, amount: number): void {
    this.#buckets[second % BUCKET_COUNT] = this.#at(second) + amount;
    this.#sum += amount;
  }
}

function secondOf(ms: number): number {
  return Math.floor(ms / BUCKET_MS);
}

/** When the bucket of a second leaves the window. */
function leavesAtMs(second: number): number {
  return (second + BUCKET_COUNT) * BUCKET_MS;
}
