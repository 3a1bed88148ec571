/** Settlements on their way to the database. One that it does not take waits here and is tried again. */
import type { GatewayError } from "../errors.js";
import { failpoint } from "../failpoint.js";
import type { SettleOutcome } from "./hold.js";
import type { Journal } from "./journal.js";
import type { LedgerLog } from "./ledger-options.js";
import type { LateTerms, LedgerResult, SettleOperation } from "./operation.js";
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
  /** Absent where the database is on this machine's own disk. */
  readonly journal?: Journal | undefined;
  readonly onOverage: (requestId: string, overageNanos: bigint) => void;
  readonly onWaiting: (count: number) => void;
  /** Called where a settlement was given up. */
  readonly onLost: (operation: SettleOperation, problem: string) => void;
  /** Called where a request was settled whose hold was lost on the way. */
  readonly onLate: (requestId: string, overageNanos: bigint) => void;
  /** Called where the database has the end of a request, or refused it. */
  readonly onEnded: (requestId: string) => void;
  readonly waitingMax?: number | undefined;
}

type Outcome = SettleOutcome | "failed" | "refused";

/** What a settlement's request was admitted on, where that may not be durable. */
interface Admitted {
  readonly lateTerms: LateTerms | undefined;
}

interface Settling {
  readonly operation: SettleOperation;
  readonly hold: Admitted;
}

export class Settlements {
  readonly #options: SettlementsOptions;
  readonly #waiting: Settling[] = [];
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
  settle(operation: SettleOperation, hold: Admitted, isAwaited = false): Promise<SettleOutcome | undefined> {
    this.#running += 1;
    return new Promise((resolve) => {
      // Nobody waits longer for a database that is away than for the disk.
      if (this.#options.journal?.isWanted === true)
        void this.#note({ operation, hold }).then((isKept) => isKept && resolve(undefined));
      this.#try(operation, hold, isAwaited, (outcome, error) => {
        this.#running -= 1;
        if (outcome === "failed") this.#keep({ operation, hold }, error);
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
      if (error.reason !== "ERROR_REASON_INTERNAL" || operation.operatorCostNanos === undefined) return refused(error);
      const fields = { request_id: operation.requestId, operator_cost_nanos: operation.operatorCostNanos, err: error };
      this.#options.log.error(
        fields,
        "the ledger cannot write a settlement: it is settled without the operator's cost",
      );
      this.#try({ ...operation, operatorCostNanos: undefined }, hold, isAwaited, ended);
    };
    this.#options.writer.enqueue(operation, { committed, refused: refusedByData }, isAwaited);
  }

  #outcomeOf(operation: SettleOperation, result: LedgerResult): Outcome {
    failpoint("after_settle_commit");
    const { onOverage, onLate, onLost, onEnded } = this.#options;
    onEnded(operation.requestId);
    if (result.kind !== "settled") {
      onLost(operation, `the ledger refuses it (${result.kind === "refused" ? result.problem : result.kind})`);
      return "refused";
    }
    const { chargedNanos, overageNanos, repeated } = result;
    if (operation.terms !== undefined && !repeated) onLate(operation.requestId, overageNanos);
    if (overageNanos > 0n && !repeated) onOverage(operation.requestId, overageNanos);
    return { chargedNanos, overageNanos };
  }

  #note({ operation, hold }: Settling): Promise<boolean> {
    return this.#options.journal?.note({ ...operation, terms: hold.lateTerms }) ?? Promise.resolve(false);
  }

  #keep(settling: Settling, error: unknown): void {
    const { operation, hold } = settling;
    void this.#note(settling);
    if (this.#waiting.length >= this.#waitingMax) {
      this.#options.onLost(operation, "too many wait for the database");
      return;
    }
    // Said once: further tries are told by how many wait.
    const fields = { request_id: operation.requestId, err: error };
    this.#options.log.error(fields, "a settlement waits: the ledger cannot be written");
    this.#waiting.push({ operation: { ...operation, terms: hold.lateTerms }, hold });
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
    const tried = ({ operation, hold }: Settling) =>
      new Promise<Outcome>((ended) => this.#try(operation, hold, false, ended));
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
