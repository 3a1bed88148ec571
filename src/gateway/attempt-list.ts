/** The attempts of one request, on all models that had a turn at it: when each began, and how each went. */
import type { TakenLimits } from "../routing/target-limiter.js";
import type { Usage } from "../api/index.js";
import { totalTokens } from "../api/usage.js";
import { type Attempt, encodeAttempts, type Recorded, type ServedAs } from "../ledger/attempt-log.js";

export class AttemptList {
  #count = 0;
  #queueMs = 0;
  #beganMs = 0;
  readonly #ended: Attempt[] = [];
  #taken: TakenLimits | undefined;

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

  /** `taken` is what the attempt took of its target's limits. The attempt before used nothing that is known. */
  begin(taken: TakenLimits | undefined): void {
    this.#taken?.settle(0, 0n);
    this.#taken = taken;
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

  /** Sets what the last attempt used of its target's limits; the first call counts. */
  settle(usage: Usage, operatorCostNanos: bigint | undefined): void {
    this.#taken?.settle(totalTokens(usage), operatorCostNanos);
  }

  /** The attempt log for the ledger. */
  encode(recorded: Recorded, as: ServedAs | undefined): string {
    return encodeAttempts(this.#ended, recorded, as);
  }
}
