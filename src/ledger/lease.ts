/**
 * A node's lease: while it is kept, no other node takes this node's holds for orphans. Each beat also looks for some.
 */
import { failpoint } from "../failpoint.js";
import type { LedgerLog } from "./ledger.js";
import { RECOVER_HOLDS_MAX } from "./recovery.js";
import type { LedgerWriter } from "./writer.js";

const BEAT_EVERY_MS = 5_000;
/** Three beats: one lost beat costs nothing. */
const LEASE_MS = 15_000;
/** How many rounds of recovery one beat does at most: the rest waits for the next. */
const ROUNDS_MAX = 100;

export interface LeaseOptions {
  readonly writer: LedgerWriter;
  readonly nodeId: string;
  readonly nowMs: () => number;
  readonly log: LedgerLog;
  readonly onRecovered: (settled: number, voided: number) => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #ended = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Resolves when the lease is taken and the orphans of before are resolved. Rejects where the database is away. */
  async start(): Promise<void> {
    this.#started = true;
    await this.#beat();
    this.#beatLater();
  }

  /** Gives the lease up, so that another node need not wait for it to lapse. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (!this.#started) return;
    const { writer, nodeId, nowMs, log } = this.#options;
    try {
      await writer.submit({ kind: "beat", nodeId, nowMs: nowMs(), leaseUntilMs: 0 });
    } catch (error) {
      log.warn({ err: error }, "the node's lease was not ended; it lapses by itself");
    }
  }

  async #beat(): Promise<void> {
    const { writer, nodeId, nowMs } = this.#options;
    const beatMs = nowMs();
    // Submitted together, the beat first: one commit takes both, or two of them in that order.
    await Promise.all([
      writer.submit({ kind: "beat", nodeId, nowMs: beatMs, leaseUntilMs: beatMs + LEASE_MS }),
      this.#recover(),
    ]);
  }

  async #recover(): Promise<void> {
    const { writer, nodeId, nowMs, log, onRecovered } = this.#options;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      failpoint("during_recovery");
      const result = await writer.submit({ kind: "recover", nodeId, nowMs: nowMs() });
      failpoint("after_recovery_commit");
      if (result.kind !== "recovered") return;
      const { settled, voided } = result;
      if (settled + voided === 0) return;
      log.warn({ settled, voided }, "holds that nobody would settle were resolved");
      onRecovered(settled, voided);
      if (settled + voided < RECOVER_HOLDS_MAX) return;
    }
  }

  #beatLater(): void {
    if (this.#ended) return;
    this.#timer = setTimeout(() => {
      this.#beat()
        .catch((error: unknown) => this.#options.log.error({ err: error }, "the node's lease was not kept"))
        .finally(() => this.#beatLater());
    }, BEAT_EVERY_MS);
    this.#timer.unref();
  }
}
