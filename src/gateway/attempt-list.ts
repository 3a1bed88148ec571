/** The attempts of one request, on all models that had a turn at it: when each began, and how each went. */
import { machineNanos } from "../routing/machine-time.js";
import type { Target } from "../routing/model.js";
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
  #target: Target | undefined;
  /** Where the last attempt stands in the time of its target's machine. */
  #enteredMs = 0;
  /** What the operator pays for the machine of the last attempt; undefined where it is not paid by the hour. */
  #machineNanos: bigint | undefined;

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
  begin(target: Target, taken: TakenLimits | undefined): void {
    this.#taken?.settle(0, 0n);
    this.#taken = taken;
    this.#target = target;
    this.#machineNanos = undefined;
    if (target.machineHourNanos !== undefined)
      this.#enteredMs = target.health.upstream.machine.enter(performance.now());
    this.#count += 1;
    this.#beganMs = performance.now() - this.startMs;
    if (this.#count === 1) this.#queueMs = this.#beganMs;
  }

  /** `firstBatchMs` is when the answer's first batch arrived, in milliseconds after the request. */
  end(
    { upstream, model, reason, status, failureMessage }: Omit<Attempt, "startMs" | "durationMs" | "firstBatchMs">,
    firstBatchMs: number | undefined,
  ): void {
    const { health, machineHourNanos } = this.#target ?? {};
    if (health !== undefined && machineHourNanos !== undefined)
      this.#machineNanos = machineNanos(
        health.upstream.machine.leave(this.#enteredMs, performance.now()),
        machineHourNanos,
      );
    const startMs = this.#beganMs;
    const durationMs = performance.now() - this.startMs - startMs;
    // Once batches came no other attempt is begun, so they are this one's.
    const first = firstBatchMs === undefined ? null : firstBatchMs - startMs;
    this.#ended.push({ upstream, model, reason, status, failureMessage, startMs, durationMs, firstBatchMs: first });
  }

  /**
   * Sets what the last attempt used of its target's limits; the first call counts. Returns what the operator pays for
   * it: the cost of its usage, and its part of the machine.
   */
  settle(usage: Usage, usageCostNanos: bigint | undefined): bigint | undefined {
    const machine = this.#machineNanos;
    this.#machineNanos = undefined;
    const costNanos = machine === undefined ? usageCostNanos : (usageCostNanos ?? 0n) + machine;
    this.#taken?.settle(totalTokens(usage), costNanos);
    return costNanos;
  }

  /** The attempt log for the ledger. */
  encode(recorded: Recorded, as: ServedAs | undefined): string {
    return encodeAttempts(this.#ended, recorded, as);
  }
}
