/** The single writer of a node: collects operations over a turn of the event loop and commits them together. */
import { GatewayError } from "../base/errors.js";
import type { LedgerOperation, LedgerResult } from "./operation.js";

/** How many operations one commit takes at most. In a larger one the first would wait too long for the last. */
export const BATCH_OPERATIONS_MAX = 256;
/**
 * How many commits are in progress at most: while the database writes one, this thread prepares the next from the
 * results of the one before.
 */
export const COMMITS_MAX = 2;
/** A commit that starts before the result of the previous one is worth its sync from this many operations on. */
export const FOLLOWING_OPERATIONS_MIN = 64;
/** How many operations may wait. At 50,000 a second that is two seconds. */
const QUEUE_OPERATIONS_MAX = 100_000;

/** How far a node may run ahead of what is durable: beyond it, requests wait, or are written to the journal first. */
const AHEAD_MS_MAX = 50;
/** A database that does not answer for this long counts as away. */
const SILENT_MS = 200;

/** Waits for the result of an operation. Called once, with a result or an error; must not throw. */
export interface Waiting {
  committed(result: LedgerResult): void;
  refused(error: GatewayError): void;
}

export type Commit = (operations: readonly LedgerOperation[]) => Promise<readonly LedgerResult[]>;

/**
 * How long an operation that nothing awaits may wait to share a commit, in milliseconds: a commit costs the same for
 * many operations. A checkpoint may be 2 s late, which leaves room for a tenth of a second. A settlement loses no more
 * than a request that was admitted before its hold is durable. Operations that hold money for a waiting request do not
 * wait.
 */
const PATIENCE_MS: Readonly<Partial<Record<LedgerOperation["kind"], number>>> = {
  checkpoint: 100,
  lease: 2,
  return: 2,
};
/**
 * The same for settlements, and for holds of requests that were admitted before: such a request does not wait for its
 * hold, and its settlement often comes sooner.
 */
const SETTLE_PATIENCE_MS = 10;

/** A commit in progress. */
interface Running {
  readonly count: number;
  /** When a request first relied on one of its operations; Infinity if none did. */
  readonly reliedMs: number;
  ended: boolean;
}

export class LedgerWriter {
  readonly #commit: Commit;
  readonly #queueMax: number;
  readonly #settlePatienceMs: number;
  /** The operations for the next commits, and what waits for each. */
  #operations: LedgerOperation[] = [];
  #waiting: Waiting[] = [];
  #scheduled = false;
  /** The commits in progress, in order. */
  #commits: Running[] = [];
  #patience: NodeJS.Timeout | undefined;
  #patienceMs = Infinity;
  /** The number of the last awaited operation, in the order of submission. */
  #urgentUntil = 0;
  #submitted = 0;
  #ended = 0;
  /**
   * When a request first relied on a collected operation, and on one of a commit that failed since the last success.
   */
  #reliedMs = Infinity;
  #failedMs = Infinity;
  #flushes: { readonly after: number; readonly resolve: () => void }[] = [];

  constructor(commit: Commit, queueMax = QUEUE_OPERATIONS_MAX, settlePatienceMs = SETTLE_PATIENCE_MS) {
    this.#commit = commit;
    this.#queueMax = queueMax;
    this.#settlePatienceMs = settlePatienceMs;
  }

  /** The number of operations that are neither durable nor refused yet. */
  get waiting(): number {
    return this.#submitted - this.#ended;
  }

  /** Resolves once the operation is durable. Rejects with OVERLOADED, LEDGER_UNAVAILABLE or INTERNAL. */
  submit(operation: LedgerOperation): Promise<LedgerResult> {
    return new Promise((resolve, reject) => this.enqueue(operation, { committed: resolve, refused: reject }));
  }

  /**
   * Like `submit`, without a promise, for operations that come thousands of times a second. `isAwaited`: something
   * waits for it, whatever its kind, and so for all that was collected before it.
   */
  enqueue(operation: LedgerOperation, waiting: Waiting, isAwaited = false): void {
    const patienceMs = operation.kind === "settle" ? this.#settlePatienceMs : PATIENCE_MS[operation.kind];
    this.#enqueue(operation, waiting, isAwaited ? undefined : patienceMs);
  }

  /** Like `enqueue`, for an operation that is relied on before it is durable. The time is of the monotonic clock. */
  enqueueRelied(operation: LedgerOperation, waiting: Waiting, monotonicMs: number): void {
    if (this.#reliedMs === Infinity) this.#reliedMs = monotonicMs;
    this.#enqueue(operation, waiting, this.#settlePatienceMs);
  }

  /** Without a patience, something waits for the operation. */
  #enqueue(operation: LedgerOperation, waiting: Waiting, patienceMs: number | undefined): void {
    if (this.#operations.length >= this.#queueMax) {
      waiting.refused(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the ledger is behind" }));
      return;
    }
    this.#operations.push(operation);
    this.#waiting.push(waiting);
    this.#submitted += 1;
    if (patienceMs === undefined) this.#urgentUntil = this.#submitted;
    this.#schedule(patienceMs);
  }

  /** Since when the oldest operation that is relied on is not durable; Infinity if all are. */
  get reliedSinceMs(): number {
    let sinceMs = Math.min(this.#reliedMs, this.#failedMs);
    for (let index = 0; index < this.#commits.length; index += 1)
      sinceMs = Math.min(sinceMs, this.#commits[index]?.reliedMs ?? Infinity);
    return sinceMs;
  }

  /** True if no more operations may be relied on before they are durable. */
  isAhead(monotonicMs: number): boolean {
    return monotonicMs - this.reliedSinceMs > AHEAD_MS_MAX;
  }

  /** True if the database did not take the last operation that is relied on, or does not answer. */
  isAway(monotonicMs: number): boolean {
    return this.#failedMs !== Infinity || monotonicMs - this.reliedSinceMs > SILENT_MS;
  }

  /** Resolves once everything submitted before is committed or refused, so that a read sees it. */
  flush(): Promise<void> {
    if (this.#ended === this.#submitted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#flushes.push({ after: this.#submitted, resolve });
      this.#schedule();
    });
  }

  /** While a commit runs, the next batch is collected; otherwise a batch is what one turn of the event loop brings. */
  #schedule(patienceMs = 0): void {
    if (this.#scheduled || !this.#mayWrite) return;
    if (!this.#isAwaited && this.#flushes.length === 0) {
      if (patienceMs >= this.#patienceMs) return;
      clearTimeout(this.#patience);
      this.#patienceMs = patienceMs;
      this.#patience = setTimeout(this.#drain, patienceMs);
      return;
    }
    this.#scheduled = true;
    setImmediate(this.#drain);
  }

  /** True if something waits for an operation in the queue. */
  get #isAwaited(): boolean {
    return this.#urgentUntil > this.#submitted - this.#operations.length;
  }

  get #mayWrite(): boolean {
    const running = this.#commits.length;
    return running === 0 || (running < COMMITS_MAX && this.#operations.length >= FOLLOWING_OPERATIONS_MIN);
  }

  /**
   * Writes at the end of a turn, with everything that the turn brings: under load this halves the number of commits,
   * and without load the turn ends at once.
   */
  readonly #drain = (): void => {
    this.#scheduled = false;
    clearTimeout(this.#patience);
    this.#patienceMs = Infinity;
    while (this.#operations.length > 0 && this.#mayWrite) void this.#write();
  };

  async #write(): Promise<void> {
    const [operations, waiting] = this.#take();
    const commit = { count: operations.length, reliedMs: this.#reliedMs, ended: false };
    // What is left in the queue came after the first that was relied on: it keeps that time.
    if (this.#operations.length === 0) this.#reliedMs = Infinity;
    this.#commits.push(commit);
    try {
      await this.#run(operations, waiting, commit.reliedMs);
    } finally {
      commit.ended = true;
      this.#end();
    }
  }

  /** A later commit counts as written only after all before it have ended. */
  #end(): void {
    while (this.#commits[0]?.ended === true) this.#ended += this.#commits.shift()?.count ?? 0;
    this.#tellFlushed();
    // What came meanwhile and can wait waits as a settlement does: most of it is one.
    if (this.#operations.length > 0 || this.#flushes.length > 0) this.#schedule(this.#settlePatienceMs);
  }

  /**
   * Everything that waits; if that is enough for two commits, its first half, so that one is prepared while one is
   * written.
   */
  #take(): readonly [readonly LedgerOperation[], readonly Waiting[]] {
    const all = this.#operations.length;
    const isShared = all >= COMMITS_MAX * FOLLOWING_OPERATIONS_MIN && this.#commits.length === 0;
    const count = Math.min(isShared ? Math.ceil(all / COMMITS_MAX) : all, BATCH_OPERATIONS_MAX);
    let [operations, waiting] = [this.#operations, this.#waiting];
    if (operations.length > count) {
      operations = operations.splice(0, count);
      waiting = waiting.splice(0, count);
    } else [this.#operations, this.#waiting] = [[], []];
    return [operations, waiting];
  }

  #tellFlushed(): void {
    if (this.#flushes.length === 0) return;
    for (const { after, resolve } of this.#flushes) if (after <= this.#ended) resolve();
    this.#flushes = this.#flushes.filter(({ after }) => after > this.#ended);
  }

  async #run(operations: readonly LedgerOperation[], waiting: readonly Waiting[], reliedMs: number): Promise<void> {
    let results: readonly LedgerResult[];
    try {
      results = await this.#commit(operations);
      this.#failedMs = Infinity;
    } catch (error) {
      const refusal = GatewayError.from(error);
      if (refusal.reason === "ERROR_REASON_INTERNAL" && operations.length > 1) {
        // One operation breaks the batch, and nothing of it was written: alone, it breaks itself and no other.
        const half = Math.ceil(operations.length / 2);
        await this.#run(operations.slice(0, half), waiting.slice(0, half), reliedMs);
        await this.#run(operations.slice(half), waiting.slice(half), reliedMs);
        return;
      }
      this.#failedMs = Math.min(this.#failedMs, reliedMs);
      tellEach(waiting, (one) => one.refused(refusal));
      return;
    }
    tellEach(waiting, (one, index) => {
      const result = results[index];
      if (result === undefined) one.refused(new GatewayError("ERROR_REASON_INTERNAL"));
      else one.committed(result);
    });
  }
}

/** Calls all of them, even after one that breaks its contract and throws; its error is thrown afterwards. */
function tellEach(waiting: readonly Waiting[], tell: (one: Waiting, index: number) => void): void {
  let broken: { readonly error: unknown } | undefined;
  for (let index = 0; index < waiting.length; index += 1) {
    const one = waiting[index];
    try {
      if (one !== undefined) tell(one, index);
    } catch (error) {
      broken ??= { error };
    }
  }
  if (broken !== undefined) throw broken.error;
}
