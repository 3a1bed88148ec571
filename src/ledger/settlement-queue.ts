/** Settlements on their way to the database. One that the database does not take waits here and is retried. */
import { NO_USAGE } from "../api/usage.js";
import { GatewayError } from "../base/errors.js";
import { failpoint } from "../base/failpoint.js";
import type { SettleOutcome } from "./hold.js";
import type { Journal } from "./journal.js";
import { journalText } from "./journal-text.js";
import type { LedgerIntents, LedgerLog } from "./ledger-options.js";
import type { LateTerms, LedgerResult, SettleOperation } from "./operation.js";
import { SOURCE_NONE } from "./rows.js";
import type { LedgerWriter } from "./writer.js";

/** How many settlements may wait. Beyond that the newest is left to recovery, which charges its checkpoint. */
const WAITING_MAX = 100_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 5_000;
/** How many are retried at once. */
const RETRIED_MAX = 256;
/** After this many refusals while others were taken, only the cost of the settlement is sent. */
const FAULTS_MAX = 6;
/** After this many refusals while no other was sent, its cost alone is sent as a test. */
const TRIES_ALONE_MAX = 6;

export interface SettlementsOptions {
  readonly writer: LedgerWriter;
  readonly log: LedgerLog;
  /** Absent if the database is on this machine's own disk. */
  readonly journal?: Journal | undefined;
  readonly intents?: LedgerIntents | undefined;
  /** The current id of this node. */
  readonly epoch?: (() => string) | undefined;
  /** `unkeptNanos`: what the operator paid beside that, and the total of all overage has no room for. */
  readonly onOverage: (requestId: string, overageNanos: bigint, unkeptNanos: bigint) => void;
  readonly onWaiting: (count: number) => void;
  /** Called if a settlement was given up. */
  readonly onLost: (operation: SettleOperation, problem: string) => void;
  /** Called if a request was settled whose hold was lost. */
  readonly onLate: (requestId: string, overageNanos: bigint) => void;
  /** Called if the database has the end of a request, or refused it. */
  readonly onEnded: (requestId: string) => void;
  readonly waitingMax?: number | undefined;
  readonly retryMsMax?: number | undefined;
}

/** What a settlement can do without: everything except its request and its cost. */
const NO_FIGURES = {
  usage: NO_USAGE,
  operatorCostNanos: undefined,
  upstream: "",
  attempts: 0,
  attemptLog: "",
} as const;

type Outcome = SettleOutcome | "failed" | "refused";

/** The terms under which the settlement's request was admitted, if they may not be durable. */
interface Admitted {
  readonly lateTerms: LateTerms | undefined;
}

interface Settling {
  readonly operation: SettleOperation;
  readonly hold: Admitted;
  /** How often it was refused although others were settled meanwhile, and how many were by the last time. */
  readonly faults: number;
  readonly settledBefore: number;
  /** How often it was refused while no other was settled. */
  readonly triesAlone: number;
}

export class Settlements {
  readonly #options: SettlementsOptions;
  readonly #waiting: Settling[] = [];
  readonly #waitingMax: number;
  readonly #retryMsMax: number;
  #running = 0;
  /** How many the database took. */
  #settled = 0;
  #retryMs = RETRY_FIRST_MS;
  #timer: NodeJS.Timeout | undefined;
  #retrying = false;

  constructor(options: SettlementsOptions) {
    this.#options = options;
    this.#waitingMax = options.waitingMax ?? WAITING_MAX;
    this.#retryMsMax = options.retryMsMax ?? RETRY_LAST_MS;
  }

  /** How many are not in the database yet. */
  get open(): number {
    return this.#running + this.#waiting.length;
  }

  /**
   * Resolves once all settlements that nothing awaits survive the end of this process. Undefined if they do. Never
   * rejects.
   */
  get noted(): Promise<void> | undefined {
    return this.#options.intents?.written;
  }

  /** Never rejects. Undefined: it waits for the next try, or it is lost. */
  settle(operation: SettleOperation, hold: Admitted, isAwaited = false): Promise<SettleOutcome | undefined> {
    this.#running += 1;
    // Of one that is waited for nobody hears before the database has it.
    if (!isAwaited) this.#intend(operation, hold);
    return new Promise((resolve) => {
      // Nobody waits longer for a database that is away than for the disk.
      if (this.#options.journal?.isWanted === true)
        void this.#note(operation, hold).then((isKept) => isKept && resolve(undefined));
      this.#try(operation, hold, isAwaited, (outcome, error) => {
        this.#running -= 1;
        if (typeof outcome !== "string") return resolve(outcome);
        if (outcome === "refused") return resolve(undefined);
        // Whoever waited for it hears of it now, as if nobody had: what is told is noted first.
        if (isAwaited) this.#intend(operation, hold);
        this.#keep(operation, hold, error);
        if (this.noted === undefined) resolve(undefined);
        else void this.noted.then(() => resolve(undefined));
      });
    });
  }

  /** Waits until the database took all, at most this long. True if it did. */
  async drain(waitMsMax: number): Promise<boolean> {
    const stepMs = 20;
    for (let waitedMs = 0; this.open > 0 && waitedMs < waitMsMax; waitedMs += stepMs)
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    return this.open === 0;
  }

  #try(
    operation: SettleOperation,
    hold: Admitted,
    isAwaited: boolean,
    ended: (outcome: Outcome, error?: unknown) => void,
  ): void {
    const refused = (error: unknown): void => ended("failed", error);
    try {
      failpoint("before_settle");
    } catch (error) {
      refused(error);
      return;
    }
    const committed = (result: LedgerResult): void => {
      let outcome: Outcome;
      if (result.kind === "refused" && result.problem === "unknown_request" && operation.terms === undefined) {
        // Its hold went with it, or before it, and was not taken: once more, with what the hold would have said.
        const terms = hold.lateTerms;
        if (terms !== undefined) {
          this.#try({ ...operation, terms }, hold, isAwaited, ended);
          return;
        }
      }
      try {
        outcome = this.#outcomeOf(operation, result);
      } catch (error) {
        refused(error);
        return;
      }
      ended(outcome);
    };
    // Money is settled, whatever its figures for the operator do to sums that have no room for them.
    const refusedByData = (error: GatewayError): void => {
      if (!isFault(error) || operation.operatorCostNanos === undefined) return refused(error);
      this.#try({ ...operation, operatorCostNanos: undefined }, hold, isAwaited, (outcome, again) => {
        // Said once it is so: one that is refused all the same is tried again with it.
        if (typeof outcome !== "string") this.#sayCostless(operation, error);
        ended(outcome, again);
      });
    };
    this.#options.writer.enqueue(operation, { committed, refused: refusedByData }, isAwaited);
  }

  #sayCostless({ requestId, operatorCostNanos }: SettleOperation, err: GatewayError): void {
    const fields = { request_id: requestId, operator_cost_nanos: operatorCostNanos, err };
    this.#options.log.error(fields, "the ledger cannot write a settlement: it is settled without the operator's cost");
  }

  #outcomeOf(operation: SettleOperation, result: LedgerResult): Outcome {
    failpoint("after_settle_commit");
    const { onOverage, onLate, onLost, onEnded, intents } = this.#options;
    intents?.ended(operation.requestId);
    onEnded(operation.requestId);
    if (result.kind !== "settled") {
      onLost(operation, `the ledger refuses it (${result.kind === "refused" ? result.problem : result.kind})`);
      return "refused";
    }
    const { chargedNanos, overageNanos, repeated } = result;
    this.#settled += 1;
    if (operation.terms !== undefined && !repeated) onLate(operation.requestId, overageNanos);
    const isCharged = operation.usageSource !== SOURCE_NONE;
    const unkeptNanos = isCharged ? operation.costNanos - chargedNanos - overageNanos : 0n;
    if (overageNanos + unkeptNanos > 0n && !repeated) onOverage(operation.requestId, overageNanos, unkeptNanos);
    return { chargedNanos, overageNanos };
  }

  #lose(operation: SettleOperation, problem: string): void {
    this.#options.intents?.ended(operation.requestId);
    this.#options.onLost(operation, problem);
  }

  #intend(operation: SettleOperation, { lateTerms: terms }: Admitted): void {
    const { intents, epoch } = this.#options;
    intents?.keep(operation.requestId, journalText({ ...operation, terms }, epoch?.() ?? ""));
  }

  #note(operation: SettleOperation, hold: Admitted): Promise<boolean> {
    return this.#options.journal?.note({ ...operation, terms: hold.lateTerms }) ?? Promise.resolve(false);
  }

  #keep(operation: SettleOperation, hold: Admitted, error: unknown): void {
    void this.#note(operation, hold);
    if (this.#waiting.length >= this.#waitingMax) {
      this.#lose(operation, "too many wait for the database");
      return;
    }
    // Said once: further tries are told by how many wait.
    const fields = { request_id: operation.requestId, err: error };
    this.#options.log.error(fields, "a settlement waits: the ledger cannot be written");
    const settledBefore = this.#settled;
    this.#waiting.push({
      operation: { ...operation, terms: hold.lateTerms },
      hold,
      faults: 0,
      settledBefore,
      triesAlone: 0,
    });
    this.#options.onWaiting(this.#waiting.length);
    this.#retryLater();
  }

  /**
   * Returns the settlement to retry, or undefined if it is given up. If the database takes no settlement at all, it
   * waits, whatever the error. If the database takes others and always refuses this one, only its cost is sent, and
   * then nothing more.
   */
  #failedAgain(settling: Settling, error: unknown): Settling | undefined {
    const { operation, hold, settledBefore } = settling;
    if (!isFault(error)) return settling;
    if (this.#settled === settledBefore) return { ...settling, triesAlone: settling.triesAlone + 1 };
    const faults = settling.faults + 1;
    if (faults > FAULTS_MAX) {
      this.#options.onEnded(operation.requestId);
      this.#lose(operation, "the database refuses it, and takes others");
      return undefined;
    }
    const sent = faults === FAULTS_MAX ? { ...operation, ...NO_FIGURES } : operation;
    return { operation: sent, hold, faults, settledBefore: this.#settled, triesAlone: 0 };
  }

  /** Resolves with the settlements that must wait on. */
  #tryAgain(settling: Settling): Promise<Settling | undefined> {
    const { operation, hold, triesAlone } = settling;
    return new Promise((ended) => {
      this.#try(operation, hold, false, (outcome, error) => {
        const left = outcome === "failed" ? this.#failedAgain(settling, error) : undefined;
        if (left === undefined || !isFault(error) || triesAlone < TRIES_ALONE_MAX) return ended(left);
        // No other one shows whose fault it is, so it shows that itself: what takes its cost refused its figures. Where
        // both are refused it keeps them, since a table may be locked.
        this.#try({ ...operation, ...NO_FIGURES }, hold, false, (plain) =>
          ended(plain === "failed" ? left : undefined),
        );
      });
    });
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
    const outcomes = await Promise.all(batch.map((settling) => this.#tryAgain(settling)));
    this.#running -= batch.length;
    const failed = outcomes.filter((settling) => settling !== undefined);
    // They go behind those that came later, so that one that never succeeds does not block the others.
    this.#waiting.push(...failed);
    this.#options.onWaiting(this.#waiting.length);
    this.#retrying = false;
    this.#retryMs = failed.length === batch.length ? Math.min(this.#retryMs * 2, this.#retryMsMax) : RETRY_FIRST_MS;
    if (this.#waiting.length > 0) this.#retryLater();
  }
}

/** True if the database was reached and did not take the operation. */
function isFault(error: unknown): boolean {
  return error instanceof GatewayError && error.reason === "ERROR_REASON_INTERNAL";
}
