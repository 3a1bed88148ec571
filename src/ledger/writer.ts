/** The one writer of a node: collects operations over a turn of the event loop and commits them together. */
import { GatewayError } from "../errors.js";
import type { LedgerOperation, LedgerResult } from "./operation.js";

/** How many operations one commit takes at most. A larger one would keep the first waiting for the last. */
export const BATCH_OPERATIONS_MAX = 256;
/** How many operations may wait. At 50,000 a second that is two seconds. */
const QUEUE_OPERATIONS_MAX = 100_000;

interface Waiting {
  readonly operation: LedgerOperation;
  readonly resolve: (result: LedgerResult) => void;
  readonly reject: (error: GatewayError) => void;
}

export type Commit = (operations: readonly LedgerOperation[]) => Promise<readonly LedgerResult[]>;

/**
 * How long an operation may wait for company where nobody waits for it, in milliseconds: a commit costs what a commit
 * costs, whoever shares it. A checkpoint's bound of two seconds has room for a tenth of one.
 */
const PATIENCE_MS: Readonly<Partial<Record<LedgerOperation["kind"], number>>> = { settle: 2, checkpoint: 100 };

export class LedgerWriter {
  readonly #commit: Commit;
  readonly #queueMax: number;
  #queue: Waiting[] = [];
  #scheduled = false;
  #busy = false;
  #patience: NodeJS.Timeout | undefined;
  #patienceMs = Infinity;
  /** Operations in the queue that somebody waits for. */
  #urgent = 0;
  #submitted = 0;
  #ended = 0;
  #flushes: { readonly after: number; readonly resolve: () => void }[] = [];

  constructor(commit: Commit, queueMax = QUEUE_OPERATIONS_MAX) {
    this.#commit = commit;
    this.#queueMax = queueMax;
  }

  /** Resolves once the operation is durable. Rejects with OVERLOADED, LEDGER_UNAVAILABLE or INTERNAL. */
  submit(operation: LedgerOperation): Promise<LedgerResult> {
    if (this.#queue.length >= this.#queueMax)
      return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the ledger is behind" }));
    return new Promise((resolve, reject) => {
      this.#queue.push({ operation, resolve, reject });
      this.#submitted += 1;
      const patienceMs = PATIENCE_MS[operation.kind];
      if (patienceMs === undefined) this.#urgent += 1;
      this.#schedule(patienceMs);
    });
  }

  /** Resolves once everything that was submitted before is committed or refused, so that a read sees it. */
  flush(): Promise<void> {
    if (this.#ended === this.#submitted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#flushes.push({ after: this.#submitted, resolve });
      this.#schedule();
    });
  }

  /** While a commit runs, the next batch gathers; otherwise a batch is what one turn of the event loop brings. */
  #schedule(patienceMs = 0): void {
    if (this.#scheduled || this.#busy) return;
    if (this.#urgent === 0 && this.#flushes.length === 0) {
      if (patienceMs >= this.#patienceMs) return;
      clearTimeout(this.#patience);
      this.#patienceMs = patienceMs;
      this.#patience = setTimeout(() => void this.#drain(), patienceMs);
      return;
    }
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    clearTimeout(this.#patience);
    this.#patienceMs = Infinity;
    this.#busy = true;
    do {
      const batch = this.#queue.slice(0, BATCH_OPERATIONS_MAX);
      this.#queue = this.#queue.slice(BATCH_OPERATIONS_MAX);
      for (const { operation } of batch) if (PATIENCE_MS[operation.kind] === undefined) this.#urgent -= 1;
      await this.#run(batch);
      this.#ended += batch.length;
      this.#tellFlushed();
    } while (this.#urgent > 0 || this.#flushes.length > 0 || this.#queue.length >= BATCH_OPERATIONS_MAX);
    this.#busy = false;
    // What came meanwhile and can wait waits for the shortest patience of its kinds.
    if (this.#queue.length > 0) this.#schedule(PATIENCE_MS.settle);
  }

  #tellFlushed(): void {
    if (this.#flushes.length === 0) return;
    for (const { after, resolve } of this.#flushes) if (after <= this.#ended) resolve();
    this.#flushes = this.#flushes.filter(({ after }) => after > this.#ended);
  }

  async #run(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ operation }) => operation));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) reject(new GatewayError("ERROR_REASON_INTERNAL"));
        else resolve(result);
      }
    } catch (error) {
      const refusal = GatewayError.from(error);
      if (refusal.reason === "ERROR_REASON_INTERNAL" && batch.length > 1) {
        // One operation breaks the batch, and nothing of it was written: alone, it breaks itself and no other.
        for (const waiting of batch) await this.#run([waiting]);
        return;
      }
      for (const { reject } of batch) reject(refusal);
    }
  }
}
