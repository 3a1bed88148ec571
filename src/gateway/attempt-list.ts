/** The attempts of one request, on all models that had a turn at it: when each began, and how each went. */
import { type Attempt, encodeAttempts, type Recorded, type ServedAs } from "../ledger/attempt-log.js";

export class AttemptList {
  #count = 0;
  #queueMs = 0;
  #beganMs = 0;
  readonly #ended: Attempt[] = [];

  /** `startMs` is when the request began, on the monotonic clock. */
  constructor(private readonly startMs: number) {}

  get count(): number {
    return this.#count;
  }

  /** From the request to its first attempt. */
  get queueMs(): number {
    return this.#queueMs;
  }

  /** How long all attempts took together, once they have ended. */
  get upstreamMs(): number {
    let sumMs = 0;
    for (const { durationMs } of this.#ended) sumMs += durationMs;
    return sumMs;
  }

  begin(): void {
    this.#count += 1;
    this.#beganMs = performance.now() - this.startMs;
    if (this.#count === 1) this.#queueMs = this.#beganMs;
  }

  /** `firstBatchMs` is when the answer's first batch arrived, in milliseconds after the request. */
  end(
    { upstream, model, reason, status, failureMessage }: Omit<Attempt, "startMs" | "durationMs" | "firstBatchMs">,
    firstBatchMs: number | undefined,
  ): void {
    const startMs = this.#beganMs;
    const durationMs = performance.now() - this.startMs - startMs;
    // Once batches came no other attempt is begun, so they are this one's.
    const first = firstBatchMs === undefined ? null : firstBatchMs - startMs;
    this.#ended.push({ upstream, model, reason, status, failureMessage, startMs, durationMs, firstBatchMs: first });
  }

  /** The attempt log for the ledger. */
  encode(recorded: Recorded, as: ServedAs | undefined): string {
    return encodeAttempts(this.#ended, recorded, as);
  }
}
