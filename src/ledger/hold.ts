/** Money held for one request, from its grant to its settlement. */
import { type Failpoint, failpoint } from "../base/failpoint.js";
import { AMOUNT_NANOS_MAX, lesser, NANOS_PER_USD } from "../base/money.js";
import type { Usage, UsageSource } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import type { Journal } from "./journal.js";
import type { MoneyLeaseKeeper, Unwritten } from "./money-lease-keeper.js";
import { termsOf } from "./late-terms.js";
import type { LiveHold } from "./live-holds.js";
import type { HoldOperation, LateTerms, LedgerResult, SettleOperation } from "./operation.js";
import { SOURCE_NONE, SOURCE_RECOVERED } from "./rows.js";
import type { Settlements } from "./settlement-queue.js";
import { boundedUsage, within } from "./usage.js";
import type { LedgerWriter, Waiting } from "./writer.js";

/** The highest operator cost of one request. The bound lets the sum of a day fit in a column of 64 bits. */
export const OPERATOR_COST_NANOS_MAX = 10_000n * NANOS_PER_USD;

/** The highest cost of a request above its hold, for the same reason: the total of all overage is one figure. */
export const OVERAGE_NANOS_MAX = OPERATOR_COST_NANOS_MAX;

const NOTHING: Checkpoint = { usage: NO_USAGE, costNanos: 0n, upstream: "", attempts: 0 };

/** What a running request has delivered and what that costs. */
export interface Checkpoint {
  readonly usage: Usage;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos?: bigint | undefined;
  /** The upstream that answers; empty if none does. */
  readonly upstream: string;
  readonly attempts: number;
}

/** What a request used in the end. With the source NONE nothing is charged. */
export interface Settlement extends Checkpoint {
  readonly usageSource: UsageSource;
  /** How each attempt went, as `encodeAttempts` writes it. */
  readonly attemptLog: string;
}

export interface SettleOutcome {
  /** What the account paid. */
  readonly chargedNanos: bigint;
  /** What the operator paid, because the hold was smaller than the cost. */
  readonly overageNanos: bigint;
}

/** Money held for one request. Settle it once, however the request ends. */
export interface Hold {
  /** What was granted: at least the request's `leastNanos`, at most its `amountNanos`. */
  readonly amountNanos: bigint;
  /** When the hold was requested: the request counts on that day. */
  readonly createTimeMs: number;
  /**
   * Stores what was delivered so far, so that a crash charges that. Never throws; a later checkpoint replaces a waiting
   * one.
   */
  checkpoint(checkpoint: Checkpoint): void;
  /**
   * Charges the request and frees the rest of the hold. Never rejects: undefined means that the database has not taken
   * it yet and the ledger retries. A second call changes nothing and returns the first result. Without `isAwaited` the
   * settlement, and its result, may wait for a larger commit.
   */
  settle(settlement: Settlement, isAwaited?: boolean): Promise<SettleOutcome | undefined>;
  /**
   * Resolves once a settlement without `isAwaited` survives the end of this process, which is long before the database
   * has it. Undefined if it already does, or if no file stores it. Never rejects.
   */
  readonly noted: Promise<void> | undefined;
  /**
   * For the `finally` block of the caller: settles a hold that was not settled, by its last checkpoint, else as nothing
   * generated. Changes nothing after `settle`. Never throws.
   */
  close(): void;
}

/** What every open hold of a ledger needs. */
export interface HoldSteps {
  readonly writer: LedgerWriter;
  readonly settlements: Settlements;
  readonly leases: Pick<MoneyLeaseKeeper, "keep" | "giveBackOf">;
  /** Absent if the database is on this machine's own disk. */
  readonly journal: Journal | undefined;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/** A hold that this node requested, or that it admitted against a lease and sends to the database later. */
export class OpenHold implements Hold, LiveHold, Waiting, Unwritten {
  readonly requestId: string;
  readonly endMs: number;
  chained: LiveHold | undefined = undefined;
  older: LiveHold | undefined = undefined;
  newer: LiveHold | undefined = undefined;
  #amountNanos = 0n;
  readonly #accountId: string;
  readonly #steps: HoldSteps;
  /** The newest checkpoint that was not sent yet. */
  #waiting: Checkpoint | undefined;
  /** The newest checkpoint of all. */
  #newest: Checkpoint | undefined;
  #noting = false;
  /** The operation under which the request was admitted, until that is durable. */
  #admitted: HoldOperation | undefined;
  /** True if, as far as known, the database has not taken the hold of an admitted request. */
  #isLate = false;
  #settled: Promise<SettleOutcome | undefined> | undefined;

  /** Requested, and not granted yet. Its request must end by `endMs`, on the monotonic clock. */
  constructor(
    requestId: string,
    accountId: string,
    endMs: number,
    steps: HoldSteps,
    readonly createTimeMs: number,
  ) {
    this.requestId = requestId;
    this.#accountId = accountId;
    this.endMs = endMs;
    this.#steps = steps;
  }

  granted(amountNanos: bigint): this {
    this.#amountNanos = amountNanos;
    return this;
  }

  /** Admits the request against a lease, for the full amount: the request does not wait for the hold any more. */
  admit(operation: HoldOperation, monotonicMs: number): this {
    this.#amountNanos = operation.amountNanos;
    this.#admitted = operation;
    this.#steps.writer.enqueueRelied(operation, this, monotonicMs);
    return this;
  }

  committed(result: LedgerResult): void {
    if (result.kind === "held") {
      this.#admitted = undefined;
      this.#steps.journal?.held(this.requestId);
    }
    // Its lease has ended meanwhile: the settlement says what the hold would have said.
    else this.#isLate = true;
  }

  refused(): void {
    this.#isLate = true;
    if (this.#settled === undefined) this.#steps.leases.keep(this);
  }

  sendAgain(): void {
    if (this.#settled !== undefined || this.#admitted === undefined) return;
    this.#steps.writer.enqueueRelied(this.#admitted, this, this.#steps.monotonicMs());
  }

  /** The terms under which the request was admitted, if they may not be durable. */
  get lateTerms(): LateTerms | undefined {
    return this.#admitted && termsOf(this.#admitted);
  }

  get amountNanos(): bigint {
    return this.#amountNanos;
  }

  get isSettling(): boolean {
    return this.#settled !== undefined;
  }

  checkpoint(checkpoint: Checkpoint): void {
    if (this.#settled !== undefined) return;
    this.#waiting = checkpoint;
    this.#newest = checkpoint;
    if (!this.#noting) void this.#note();
  }

  settle(settlement: Settlement, isAwaited = false): Promise<SettleOutcome | undefined> {
    if (this.#settled !== undefined) return this.#settled;
    const { settlements, leases, nowMs } = this.#steps;
    this.#waiting = undefined;
    const { usageSource, attemptLog } = settlement;
    const { usage, costNanos, operatorCostNanos, upstream, attempts } = bounded(settlement, this.#amountNanos);
    // What is above the hold is taken of what the account has available, and so of what is leased.
    if (costNanos > this.#amountNanos) leases.giveBackOf(this.#accountId);
    const operation: SettleOperation = {
      kind: "settle",
      requestId: this.requestId,
      usage,
      usageSource,
      costNanos,
      operatorCostNanos,
      upstream,
      attempts,
      attemptLog,
      nowMs: nowMs(),
      terms: this.#isLate ? this.lateTerms : undefined,
    };
    this.#settled = settlements.settle(operation, this, isAwaited);
    return this.#settled;
  }

  get noted(): Promise<void> | undefined {
    return this.#steps.settlements.noted;
  }

  close(): void {
    if (this.#settled !== undefined) return;
    const settlement: Settlement =
      this.#newest === undefined
        ? { ...NOTHING, usageSource: SOURCE_NONE, attemptLog: "" }
        : { ...this.#newest, usageSource: SOURCE_RECOVERED, attemptLog: "" };
    void this.settle(settlement);
  }

  /** Sends one at a time: a slow database gets the newest checkpoint, not all. */
  async #note(): Promise<void> {
    const { requestId } = this;
    const { writer, nowMs, journal } = this.#steps;
    this.#noting = true;
    while (this.#waiting !== undefined) {
      const charge = bounded(this.#waiting, this.#amountNanos);
      this.#waiting = undefined;
      try {
        failpoint("before_checkpoint");
        const operation = { kind: "checkpoint", requestId, nowMs: nowMs(), ...charge } as const;
        if (journal?.isWanted === true) await journal.note(operation);
        await writer.submit(operation);
        failpoint("after_checkpoint_commit");
      } catch {
        // The next checkpoint says all that this one did, and the settlement says more.
      }
    }
    this.#noting = false;
  }
}

/**
 * Bounds a charge to what the ledger accepts: an upstream's report may say anything, and must never make a settlement
 * fail.
 */
export function bounded(charge: Checkpoint, heldNanos: bigint): Checkpoint {
  const { operatorCostNanos, upstream, attempts } = charge;
  const mostNanos = lesser(heldNanos + OVERAGE_NANOS_MAX, AMOUNT_NANOS_MAX);
  return {
    usage: boundedUsage(charge.usage),
    costNanos: within(charge.costNanos, mostNanos),
    operatorCostNanos: operatorCostNanos === undefined ? undefined : within(operatorCostNanos, OPERATOR_COST_NANOS_MAX),
    upstream,
    attempts,
  };
}

/** Undefined if no test sets a failpoint there. */
export function passed(name: Failpoint, hold: Hold): Promise<never> | undefined {
  try {
    failpoint(name);
    return undefined;
  } catch (error) {
    hold.close();
    return Promise.reject(error);
  }
}
