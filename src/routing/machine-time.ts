/** The time of a machine that is paid by the hour, spread over the requests that it works at. */

const HOUR_MS = 3_600_000;

export class MachineTime {
  /** What each request would have got that ran from the start on: a request's part is what this grew by meanwhile. */
  #eachMs = 0;
  #lastMs = 0;
  #running = 0;

  /** A request begins. Returns where it stands, for its end. */
  enter(nowMs: number): number {
    this.#advance(nowMs);
    this.#running += 1;
    return this.#eachMs;
  }

  /** The request ends. Returns its part, in milliseconds: all parts together are the time in which any ran. */
  leave(enteredMs: number, nowMs: number): number {
    this.#advance(nowMs);
    this.#running -= 1;
    return this.#eachMs - enteredMs;
  }

  #advance(nowMs: number): void {
    if (this.#running > 0) this.#eachMs += (nowMs - this.#lastMs) / this.#running;
    this.#lastMs = nowMs;
  }
}

/** What a part of the time costs at a price per hour, in nano-USD, rounded up. */
export function machineNanos(partMs: number, hourNanos: bigint): bigint {
  // Far below 2^53 for any price and time that there is, and no customer pays it.
  return BigInt(Math.ceil((partMs * Number(hourNanos)) / HOUR_MS));
}
