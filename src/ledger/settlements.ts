/** Settlements on their way to the database. One that it does not take waits here and is tried again. */
import { failpoint } from "../failpoint.js";
import type { LedgerLog, SettleOutcome } from "./ledger.js";
import type { LedgerResult, SettleOperation } from "./operation.js";
import type { LedgerWriter } from "./writer.js";

/** How many settlements may wait. Beyond that the newest is given up to recovery, which charges its checkpoint. */
const WAITING_MAX = 100_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;
/** How many are tried at once. */
const RETRIED_MAX = 256;

export interface SettlementsOptions {
  readonly writer: LedgerWriter;
  readonly log: LedgerLog;
  readonly onOverage: (requestId: string, overageNanos: bigint) => void;
  readonly onWaiting: (count: number) => void;
  readonly onLost: (requestId: string) => void;
  /** Called where the database has the end of a request, or refused it. */
  readonly onEnded: (requestId: string) => void;
  readonly waitingMax?: number | undefined;
}

type Outcome = SettleOutcome | "failed" | "refused";

export class Settlements {
  readonly #options: SettlementsOptions;
  readonly #waiting: SettleOperation[] = [];
  readonly #waitingMax: number;
  #running = 0;
  #retryMs = RETRY_FIRST_MS;
  #timer: NodeJS.Timeout | undefined;
  #retrying = false;

  constructor(options: SettlementsOptions) {
    this.#options = options;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
  }

  /** How many are not in the database yet. */
  get open(): number {
    return this.#running + this.#waiting.length;
  }

  /** Never rejects. Undefined: it waits for the next try, or it is lost. */
  settle(operation: SettleOperation): Promise<SettleOutcome | undefined> {
    this.#running += 1;
    return new Promise((resolve) => {
      this.#try(operation, (outcome) => {
        this.#running -= 1;
        if (outcome === "failed") this.#keep(operation);
        resolve(typeof outcome === "string" ? undefined : outcome);
      });
    });
  }

  /** Waits until the database took all, for so long at most. True where it did. */
  async drain(waitMsMax: number): Promise<boolean> {
    const stepMs = 20;
    for (let waitedMs = 0; this.open > 0 && waitedMs < waitMsMax; waitedMs += stepMs)
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    return this.open === 0;
  }

  #try(operation: SettleOperation, ended: (outcome: Outcome) => void): void {
    const refused = (error: unknown): void => {
      const { requestId } = operation;
      this.#options.log.error({ requestId, err: error }, "a settlement waits: the ledger cannot be written");
      ended("failed");
    };
    try {
      failpoint("before_settle");
    } catch (error) {
      refused(error);
      return;
    }
    const committed = (result: LedgerResult): void => {
      let outcome: Outcome;
      try {
        outcome = this.#outcomeOf(operation.requestId, result);
      } catch (error) {
        refused(error);
        return;
      }
      ended(outcome);
    };
    this.#options.writer.enqueue(operation, { committed, refused });
  }

  #outcomeOf(requestId: string, result: LedgerResult): Outcome {
    failpoint("after_settle_commit");
    const { log, onOverage, onLost, onEnded } = this.#options;
    onEnded(requestId);
    if (result.kind !== "settled") {
      log.error({ requestId, result }, "the ledger refuses a settlement");
      onLost(requestId);
      return "refused";
    }
    const { chargedNanos, overageNanos, repeated } = result;
    if (overageNanos > 0n && !repeated) {
      log.warn({ requestId, chargedNanos, overageNanos }, "a request cost more than its hold");
      onOverage(requestId, overageNanos);
    }
    return { chargedNanos, overageNanos };
  }

  #keep(operation: SettleOperation): void {
    if (this.#waiting.length >= this.#waitingMax) {
      this.#options.log.error({ operation }, "a settlement is lost: too many wait; recovery resolves its hold");
      this.#options.onLost(operation.requestId);
      return;
    }
    this.#waiting.push(operation);
    this.#options.onWaiting(this.#waiting.length);
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#timer !== undefined || this.#retrying) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#retry();
    }, this.#retryMs);
    this.#timer.unref();
  }

  async #retry(): Promise<void> {
    this.#retrying = true;
    const batch = this.#waiting.splice(0, RETRIED_MAX);
    this.#running += batch.length;
    const tried = (operation: SettleOperation) => new Promise<Outcome>((ended) => this.#try(operation, ended));
    const outcomes = await Promise.all(batch.map(tried));
    this.#running -= batch.length;
    const failed = batch.filter((_, index) => outcomes[index] === "failed");
    // They go behind those that came later, so that one that never succeeds does not block the others.
    this.#waiting.push(...failed);
    this.#options.onWaiting(this.#waiting.length);
    this.#retrying = false;
    this.#retryMs = failed.length === batch.length ? Math.min(this.#retryMs * 2, RETRY_LAST_MS) : RETRY_FIRST_MS;
    if (this.#waiting.length > 0) this.#retryLater();
  }
}
