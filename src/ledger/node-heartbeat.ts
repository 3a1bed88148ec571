/**
 * A node's lease: while the node sends heartbeats, no other node treats its holds as orphans. Each heartbeat also looks
 * for orphans.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../base/errors.js";
import { failpoint } from "../base/failpoint.js";
import type { LedgerLog } from "./ledger-options.js";
import type { MoneyLeaseKeeper } from "./money-lease-keeper.js";
import type { LiveHolds } from "./live-holds.js";
import type { LedgerResult, NodeBeats, RecoverOperation } from "./operation.js";
import { SILENCE_MS } from "./node-leases.js";
import { RECOVER_HOLDS_MAX } from "./recovery.js";
import type { LedgerWriter } from "./writer.js";

/** Other nodes see the last heartbeat at most one heartbeat late, so they take over a dead node's holds within 18 s. */
const BEAT_EVERY_MS = 3_000;
/** Another live node sends a heartbeat within this time, even if one is lost. */
const LIVE_WAIT_MS = 7_000;
const LIVE_LOOK_MS = 500;
/** How many rounds of recovery follow one heartbeat at most: the rest waits for the next. */
const ROUNDS_MAX = 100;

export interface NodeHeartbeatOptions {
  readonly writer: LedgerWriter;
  readonly nodeId: string;
  readonly live: LiveHolds;
  readonly nowMs: () => number;
  /** The machine's time of day. */
  readonly machineMs: () => number;
  /** The monotonic clock, which no change of the time of day affects. */
  readonly monotonicMs: () => number;
  readonly log: LedgerLog;
  readonly onRecovered: (settled: number, voided: number) => void;
  /** The leases of money: their validity depends on the heartbeats. */
  readonly leases: Pick<MoneyLeaseKeeper, "beaten" | "endWhere">;
  /** The interval of heartbeats. Default: 3 s. */
  readonly beatEveryMs?: number | undefined;
}

/** What was last seen of another node, and since when it has not changed. */
interface Sight {
  readonly beats: number;
  readonly sinceMs: number;
}

export class NodeHeartbeat {
  readonly #options: NodeHeartbeatOptions;
  /** The other nodes, as this one saw them: clocks of different nodes are never compared. */
  #others = new Map<string, Sight>();
  /** When this node's last heartbeat was acknowledged. */
  #beatMs: number | undefined;
  /** A new id each time that other nodes considered this node dead. */
  #nodeId: string;
  #deaths = 0;
  #isFirst = true;
  #timer: NodeJS.Timeout | undefined;
  #started = false;
  #ended = false;
  #hasRecovered = false;
  #afterRecovery: (() => void) | undefined;

  constructor(options: NodeHeartbeatOptions) {
    this.#options = options;
    this.#nodeId = options.nodeId;
  }

  /** The current id of this node. */
  get nodeId(): string {
    return this.#nodeId;
  }

  /**
   * Resolves when the lease is taken and earlier orphans are resolved. Rejects if the database is away. `hasReplayed`:
   * requests of an earlier process were just settled, which is reported like a recovery.
   */
  async start(hasReplayed = false): Promise<void> {
    this.#started = true;
    this.#hasRecovered ||= hasReplayed;
    await this.#beat();
    this.#beatLater();
  }

  /**
   * The id of another node that sends heartbeats. Returns undefined at once if the database knows no other node, else
   * after the time in which a live one would have sent a heartbeat. Rejects if the database is away.
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

  /** Calls `act` after each recovery that resolved holds, and at once if one did before. */
  afterRecovery(act: () => void): void {
    this.#afterRecovery = act;
    if (this.#hasRecovered) act();
  }

  /** The number of holds that this node is responsible for: of running requests, and of settlements on their way. */
  get openHoldCount(): number {
    return this.#options.live.size;
  }

  /** The number of operations that are not durable yet. */
  get waitingOperations(): number {
    return this.#options.writer.waiting;
  }

  /** For each node, this one included, how long ago its last heartbeat was seen. */
  beatAges(): ReadonlyMap<string, number> {
    const nowMs = this.#options.monotonicMs();
    const ages = new Map([...this.#others].map(([nodeId, { sinceMs }]) => [nodeId, nowMs - sinceMs]));
    return ages.set(this.#nodeId, nowMs - (this.#beatMs ?? nowMs));
  }

  /** Ends the lease, so that another node need not wait for it to lapse. */
  async end(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#timer);
    if (!this.#started) return;
    const { writer, nowMs, log } = this.#options;
    try {
      await writer.submit({ kind: "beat", nodeId: this.#nodeId, nowMs: nowMs(), isLast: true });
    } catch (error) {
      log.warn({ err: error }, "the node's heartbeat was not withdrawn; it expires by itself");
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

  /**
   * Other nodes considered this node dead: they own its leases, and operations under its old id find none. Takes a new
   * id.
   */
  #beginAnew(): void {
    const { nodeId, leases, live, log } = this.#options;
    this.#deaths += 1;
    this.#nodeId = `${nodeId}.${this.#deaths}`;
    this.#isFirst = true;
    leases.endWhere(() => true);
    live.doubt();
    log.warn({ node: this.#nodeId }, "other nodes considered this node dead; it continues with a new id");
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

  /**
   * Recovers without figures: a usage that does not fit into the sums of its day must not block the money of all
   * others.
   */
  #recoverPlainly(recover: RecoverOperation, error: unknown): Promise<LedgerResult> {
    if (GatewayError.from(error).reason !== "ERROR_REASON_INTERNAL") throw error;
    const { writer, log } = this.#options;
    log.error({ err: error }, "the ledger cannot write what recovery found: holds are resolved without their figures");
    return writer.submit({ ...recover, isPlain: true });
  }

  /** The time until the next heartbeat, which comes early if another node's silence is long enough before that. */
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
