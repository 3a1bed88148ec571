/**
 * A node's lease: while it beats, no other node takes this node's holds for orphans. Each beat also looks for some.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../errors.js";
import { failpoint } from "../failpoint.js";
import type { LedgerLog } from "./ledger-options.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import type { LiveHolds } from "./live-holds.js";
import type { LedgerResult, NodeBeats, RecoverOperation } from "./operation.js";
import { SILENCE_MS } from "./node-leases.js";
import { RECOVER_HOLDS_MAX } from "./recovery.js";
import type { LedgerWriter } from "./writer.js";

/** A last beat is seen by the others one beat late at most, so what a dead node held is theirs within 18 s. */
const BEAT_EVERY_MS = 3_000;
/** Another node that lives beats within this, even where one beat of it is lost. */
const LIVE_WAIT_MS = 7_000;
const LIVE_LOOK_MS = 500;
/** How many rounds of recovery one beat does at most: the rest waits for the next. */
const ROUNDS_MAX = 100;

export interface LeaseOptions {
  readonly writer: LedgerWriter;
  readonly nodeId: string;
  readonly live: LiveHolds;
  readonly nowMs: () => number;
  /** The machine's time of day. */
  readonly machineMs: () => number;
  /** The clock of durations, which no setting of the time changes. */
  readonly monotonicMs: () => number;
  readonly log: LedgerLog;
  readonly onRecovered: (settled: number, voided: number) => void;
  /** What the node may admit against lives by its beats. */
  readonly leases: Pick<LeaseKeeper, "beaten" | "endWhere">;
  /** Default: 3 s. */
  readonly beatEveryMs?: number | undefined;
}

/** What was seen of another node, and since when it looks so. */
interface Sight {
  readonly beats: number;
  readonly sinceMs: number;
}

export class Lease {
  readonly #options: LeaseOptions;
  /** The other nodes, as this one saw them: their clocks are compared with none. */
  #others = new Map<string, Sight>();
  /** When this node's last beat was acknowledged. */
  #beatMs: number | undefined;
  /** Another after each time that others took this node for dead. */
  #nodeId: string;
  #deaths = 0;
  #isFirst = true;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #ended = false;
  #hasRecovered = false;
  #afterRecovery: (() => void) | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#nodeId = options.nodeId;
  }

  /** Under which id this node lives now. */
  get nodeId(): string {
    return this.#nodeId;
  }

  /**
   * Resolves when the lease is taken and the orphans of before are resolved. Rejects where the database is away.
   * `hasReplayed`: requests of before were settled just now, which is told as a recovery is.
   */
  async start(hasReplayed = false): Promise<void> {
    this.#started = true;
    this.#hasRecovered ||= hasReplayed;
    await this.#beat();
    this.#beatLater();
  }

  /**
   * The id of another node that is seen to beat. Undefined at once where the database knows none, else after the time
   * in which one that lives would have beaten. Rejects where the database is away.
   */
  async liveOther(): Promise<string | undefined> {
    const { monotonicMs } = this.#options;
    const before = this.#others;
    const untilMs = monotonicMs() + LIVE_WAIT_MS;
    while (this.#others.size > 0 && monotonicMs() < untilMs) {
      await sleep(LIVE_LOOK_MS);
      await this.#beat();
      for (const [nodeId, { beats }] of this.#others) if (before.get(nodeId)?.beats !== beats) return nodeId;
    }
    return undefined;
  }

  /** Calls after each recovery that resolved holds, and at once where one did before. */
  afterRecovery(act: () => void): void {
    this.#afterRecovery = act;
    if (this.#hasRecovered) act();
  }

  /** Holds that this node answers for: of requests that run, and of settlements on their way. */
  get openHoldCount(): number {
    return this.#options.live.size;
  }

  /** Operations that are not durable yet. */
  get waitingOperations(): number {
    return this.#options.writer.waiting;
  }

  /** How long ago each node, this one too, was seen to beat. */
  beatAges(): ReadonlyMap<string, number> {
    const nowMs = this.#options.monotonicMs();
    const ages = new Map([...this.#others].map(([nodeId, { sinceMs }]) => [nodeId, nowMs - sinceMs]));
    return ages.set(this.#nodeId, nowMs - (this.#beatMs ?? nowMs));
  }

  /** Gives the lease up, so that another node need not wait for it to lapse. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (!this.#started) return;
    const { writer, nowMs, log } = this.#options;
    try {
      await writer.submit({ kind: "beat", nodeId: this.#nodeId, nowMs: nowMs(), isLast: true });
    } catch (error) {
      log.warn({ err: error }, "the node's lease was not ended; it lapses by itself");
    }
  }

  async #beat(): Promise<void> {
    const { writer, nowMs, machineMs, monotonicMs, live, log, leases } = this.#options;
    const overdue = live.letGoBefore(monotonicMs());
    if (overdue.length > 0)
      log.error({ request_ids: overdue }, "holds outlived their requests; recovery resolves them");
    // Others count from when they saw the beat, this node from before it was sent.
    const sent = { wallMs: machineMs(), monotonicMs: monotonicMs() };
    const beat = {
      kind: "beat",
      nodeId: this.#nodeId,
      nowMs: nowMs(),
      isLast: false,
      isFirst: this.#isFirst,
    } as const;
    const result = await writer.submit(beat);
    if (result.kind === "gone") {
      this.#beginAnew();
      return this.#beat();
    }
    this.#isFirst = false;
    this.#beatMs = monotonicMs();
    if (!this.#ended) leases.beaten(sent);
    if (result.kind === "beaten") this.#see(result.others);
    await this.#recover();
  }

  /** Others took this node for dead: its leases are theirs again, and nothing that it sends under its id finds one. */
  #beginAnew(): void {
    const { nodeId, leases, live, log } = this.#options;
    this.#deaths += 1;
    this.#nodeId = `${nodeId}.${this.#deaths}`;
    this.#isFirst = true;
    leases.endWhere(() => true);
    live.doubt();
    log.warn({ node: this.#nodeId }, "other nodes took this one for dead; it goes on under another id");
  }

  #see(others: readonly NodeBeats[]): void {
    const nowMs = this.#options.monotonicMs();
    const seen = new Map<string, Sight>();
    for (const { nodeId, beats } of others) {
      const before = this.#others.get(nodeId);
      seen.set(nodeId, before?.beats === beats ? before : { beats, sinceMs: nowMs });
    }
    this.#others = seen;
  }

  #silent(): NodeBeats[] {
    const nowMs = this.#options.monotonicMs();
    const silent: NodeBeats[] = [];
    for (const [nodeId, { beats, sinceMs }] of this.#others)
      if (nowMs - sinceMs >= SILENCE_MS) silent.push({ nodeId, beats });
    return silent;
  }

  async #recover(): Promise<void> {
    const { writer, nowMs, live, onRecovered } = this.#options;
    const nodeId = this.#nodeId;
    const silent = this.#silent();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      failpoint("during_recovery");
      // Read anew for each round: it says what this node answers for when the operation takes its place in the queue.
      const doubted = live.doubted();
      const recover = { kind: "recover", nodeId, nowMs: nowMs(), silent, live: doubted?.live } as const;
      const result = await writer.submit(recover).catch((error: unknown) => this.#recoverPlainly(recover, error));
      failpoint("after_recovery_commit");
      if (result.kind !== "recovered") return;
      const { settled, voided } = result;
      const isLast = settled + voided < RECOVER_HOLDS_MAX;
      if (isLast) doubted?.resolved();
      if (settled + voided === 0) return;
      this.#hasRecovered = true;
      onRecovered(settled, voided);
      this.#afterRecovery?.();
      if (isLast) return;
    }
  }

  /** What one of them has no room for in the sums of its day must not keep the money of all. */
  #recoverPlainly(recover: RecoverOperation, error: unknown): Promise<LedgerResult> {
    if (GatewayError.from(error).reason !== "ERROR_REASON_INTERNAL") throw error;
    const { writer, log } = this.#options;
    log.error({ err: error }, "the ledger cannot write what recovery found: holds are resolved without their figures");
    return writer.submit({ ...recover, isPlain: true });
  }

  /** Until the next beat: it comes early where another node's silence is long enough before it. */
  #waitMs(): number {
    const nowMs = this.#options.monotonicMs();
    let waitMs = this.#options.beatEveryMs ?? BEAT_EVERY_MS;
    for (const { sinceMs } of this.#others.values()) {
      const leftMs = sinceMs + SILENCE_MS - nowMs;
      // A timer may fire a moment early, and a look that is too early would cost a whole beat.
      if (leftMs > 0) waitMs = Math.min(waitMs, Math.ceil(leftMs) + 1);
    }
    return waitMs;
  }

  #beatLater(): void {
    if (this.#ended) return;
    this.#timer = setTimeout(() => {
      this.#beat()
        .catch((error: unknown) => this.#options.log.error({ err: error }, "the node's lease was not kept"))
        .finally(() => this.#beatLater());
    }, this.#waitMs());
    this.#timer.unref();
  }
}
