/**
 * Manages a node's leases of money: requests them before they are needed, admits requests against them, and returns
 * them when they are idle or recalled.
 */
import { dayNumber } from "../base/day.js";
import type { MoneyLeaseName, MoneyLeaseOperation, LedgerResult } from "./operation.js";
import { type Draw, type Moment, type NodeLease, NodeLeases, SILENCE_MS } from "./node-leases.js";
import type { LedgerWriter, Waiting } from "./writer.js";
import { firstSize, nextSize } from "./money-lease-size.js";

/** How often to look for idle leases, failed operations and recalls. */
const LOOK_MS = 200;
/** A lease that was not drawn on for this long is returned. */
const IDLE_MS = 4_000;
/** After a refusal, no lease is requested for this long. */
const REFUSED_MS = 1_000;

/** Seven 200 ms looks of the other nodes: after that, no node with a lease can be reached. */
const RECALL_WAITS_MS = [0, 50, 100, 200, 300, 400, 400] as const;
/** By then an unreturned lease has lapsed: its node is silent, and another node has found that at a heartbeat. */
const LAPSED_MS = SILENCE_MS + 15_000;
/** For how many accounts a pending change is remembered. */
const PENDING_MAX = 10_000;

export interface MoneyLeaseKeeperOptions {
  readonly writer: LedgerWriter;
  readonly nodeId: () => string;
  readonly nowMs: () => number;
  /** The machine's time of day. */
  readonly machineMs: () => number;
  readonly monotonicMs: () => number;
  /** The highest amount of one lease: what a node that is cut off can cost the operator. */
  readonly leaseNanosMax: bigint;
  /** The recalled leases of a node. Absent if no other process can recall any: then only results name them. */
  readonly recalled?: ((nodeId: string) => Promise<readonly string[]>) | undefined;
}

/** A hold that its node admitted, and that the database has not taken yet. */
export interface Unwritten {
  /** Sends it once more if that is useful. */
  sendAgain(): void;
}

/** How much of a key's demand is leased. */
interface Demand {
  lastMs: number;
  /** When its last lease was granted. */
  grantMs: number;
  sizeNanos: bigint;
  /** Below this rest the next lease is requested. */
  refillNanos: bigint;
  isAsking: boolean;
  /** No lease is requested before this time. */
  waitUntilMs: number;
}

export class MoneyLeaseKeeper {
  readonly #options: MoneyLeaseKeeperOptions;
  readonly #leases = new NodeLeases();
  readonly #demands = new Map<string, Demand>();
  #unwritten: Unwritten[] = [];
  /** Leases whose return the database has not taken yet. */
  #unreturned: string[] = [];
  /** Accounts that were changed while unreachable nodes had leases of them, and until when at most. */
  readonly #pending = new Map<string, number>();
  #asks = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #closed = false;

  constructor(options: MoneyLeaseKeeperOptions) {
    this.#options = options;
  }

  /** How many leases the node has, and their rest in total. */
  get held(): { readonly count: number; readonly restNanos: bigint } {
    let [count, restNanos] = [0, 0n];
    for (const lease of this.#leases.values()) {
      count += 1;
      restNanos += lease.restNanos;
    }
    return { count, restNanos };
  }

  /**
   * The lease that a request is admitted against; undefined if the request must wait for its own hold, as it must if it
   * may not run ahead of the database.
   */
  draw(request: Draw, nowMs: number, monotonicMs: number, mayRunAhead: boolean): NodeLease | undefined {
    const { keyId } = request;
    const demand = this.#demands.get(keyId);
    if (demand === undefined) {
      this.#notice(request, monotonicMs);
      return undefined;
    }
    demand.lastMs = monotonicMs;
    const lease = mayRunAhead ? this.#leases.draw(request, nowMs, this.#options.machineMs(), monotonicMs) : undefined;
    if (this.#leases.ending.length > 0) this.#giveBack();
    if (demand.isAsking || (lease !== undefined && lease.restNanos >= demand.refillNanos)) return lease;
    if (monotonicMs >= demand.waitUntilMs && this.#leases.restOf(keyId) < demand.refillNanos)
      this.#ask(request, demand, nowMs, monotonicMs);
    return lease;
  }

  /** True for a request that can cost nothing, from the key's second request on: it needs no lease. */
  admitsFree({ keyId, amountNanos }: Draw, monotonicMs: number): boolean {
    const demand = amountNanos === 0n ? this.#demands.get(keyId) : undefined;
    if (demand === undefined || !this.isAlive(monotonicMs)) return false;
    demand.lastMs = monotonicMs;
    return true;
  }

  /** True if the key's leases cover the request, so that it need not wait for its own hold. */
  mayCover({ keyId, amountNanos }: Draw): boolean {
    return this.#leases.restOf(keyId) >= amountNanos;
  }

  /** False if other nodes may consider this node dead by now. */
  isAlive(monotonicMs: number): boolean {
    return this.#leases.isAlive(this.#options.machineMs(), monotonicMs);
  }

  /** The first request of a key gets no lease: most keys that come once do not come again soon. */
  #notice({ keyId, amountNanos }: Draw, lastMs: number): void {
    const sizeNanos = firstSize(amountNanos);
    const times = { lastMs, grantMs: lastMs, waitUntilMs: lastMs };
    this.#demands.set(keyId, { ...times, sizeNanos, refillNanos: amountNanos, isAsking: false });
    this.#lookLater();
  }

  #ask({ accountId, keyId, budgets, amountNanos }: Draw, demand: Demand, nowMs: number, monotonicMs: number): void {
    const { writer, leaseNanosMax, nodeId } = this.#options;
    if (this.#closed || amountNanos <= 0n || !this.isAlive(monotonicMs)) return;
    const lasted = { sizeNanos: demand.sizeNanos, ms: monotonicMs - demand.grantMs };
    demand.sizeNanos = nextSize(lasted, amountNanos, leaseNanosMax);
    // What is larger than any lease is held exactly.
    if (demand.sizeNanos < amountNanos) return;
    demand.isAsking = true;
    this.#asks += 1;
    const who = { leaseId: `${nodeId()}.${this.#asks}`, nodeId: nodeId(), accountId, keyId, budgets };
    const operation = {
      kind: "lease",
      ...who,
      amountNanos: demand.sizeNanos,
      requestNanos: amountNanos,
      nowMs,
    } as const;
    writer.enqueue(operation, {
      committed: (result) => this.#answered(operation, demand, result),
      refused: () => {
        this.#answered(operation, demand, undefined);
        // It may have been granted.
        this.#unreturned.push(operation.leaseId);
        this.#lookLater();
      },
    });
  }

  #answered(operation: MoneyLeaseOperation, demand: Demand, result: LedgerResult | undefined): void {
    const { leaseId: id, accountId, keyId, budgets, nowMs } = operation;
    const drawnMs = this.#options.monotonicMs();
    demand.isAsking = false;
    if (result?.kind !== "leased") {
      demand.waitUntilMs = drawnMs + REFUSED_MS;
      return;
    }
    const { amountNanos: grantedNanos, requestCostMaxNanos } = result;
    demand.grantMs = drawnMs;
    demand.refillNanos = grantedNanos / 2n;
    const grant = { grantedNanos, restNanos: grantedNanos, requestCostMaxNanos, day: dayNumber(nowMs), drawnMs };
    this.#leases.add({ id, accountId, keyId, budgets, ...grant });
    if (this.#closed) this.endWhere(() => true);
    this.#lookLater();
  }

  /** Returns recalled leases that this node has, after everything that it admitted against them. */
  giveBack(asked: readonly MoneyLeaseName[]): void {
    if (asked.length === 0) return;
    const ids = new Set(asked.map(({ leaseId }) => leaseId));
    this.endWhere(({ id }) => ids.has(id));
  }

  giveBackOf(accountId: string): void {
    this.endWhere((lease) => lease.accountId === accountId);
  }

  endWhere(ends: (lease: NodeLease) => boolean): void {
    this.#leases.endWhere(ends);
    this.#giveBack();
  }

  #giveBack(): void {
    for (const { id } of this.#leases.ending.splice(0)) this.#return(id);
  }

  #return(leaseId: string): void {
    const again = (): void => {
      this.#unreturned.push(leaseId);
      this.#lookLater();
    };
    const waiting: Waiting = { committed: () => undefined, refused: again };
    this.#options.writer.enqueue({ kind: "return", leaseId, nowMs: this.#options.nowMs() }, waiting);
  }

  /**
   * Repeats a request for money that leases may hold until they are returned: this node's own at once, those of others
   * within their looks. Returns `recalling` in the end if some cannot be reached.
   */
  async untilBack(submit: () => Promise<LedgerResult>): Promise<LedgerResult> {
    for (const waitMs of RECALL_WAITS_MS) {
      const result = await submit();
      if (result.kind !== "recalling" || this.#closed) return result;
      this.giveBack(result.leases);
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    return submit();
  }

  /**
   * Call after a change of an account, which recalled all leases that were granted before it. Ends those of this node,
   * and waits for those of others, as `untilBack` does. What is not returned then is pending. Never rejects: the change
   * and its recall are durable.
   */
  async recall(accountId: string): Promise<void> {
    this.giveBackOf(accountId);
    this.#pending.delete(accountId);
    try {
      if (await this.#areBack(accountId)) return;
    } catch {
      // The database is away, and nobody knows.
    }
    this.#expectLapse(accountId);
  }

  /** False if leases of other nodes are still out that were out at the first call. */
  async #areBack(accountId: string): Promise<boolean> {
    const { writer, nowMs, nodeId } = this.#options;
    let awaited: ReadonlySet<string> | undefined;
    for (const waitMs of RECALL_WAITS_MS) {
      const result = await writer.submit({ kind: "recall", accountId, nowMs: nowMs() });
      if (result.kind !== "recalled") return true;
      // All of its own once more: a grant may have been on its way.
      this.giveBackOf(accountId);
      const others = result.leases.filter((lease) => lease.nodeId !== nodeId()).map(({ leaseId }) => leaseId);
      // What is granted later is under the change.
      awaited ??= new Set(others);
      if (!others.some((id) => awaited?.has(id))) return true;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
    return false;
  }

  #expectLapse(accountId: string): void {
    const nowMs = this.#options.monotonicMs();
    this.#pending.set(accountId, nowMs + LAPSED_MS);
    for (const [oldest, untilMs] of this.#pending) {
      if (untilMs > nowMs && this.#pending.size <= PENDING_MAX) break;
      this.#pending.delete(oldest);
    }
  }

  /** True if leases that were granted before the last change of the account may still be out. */
  isPending(accountId: string): boolean {
    return (this.#pending.get(accountId) ?? -Infinity) > this.#options.monotonicMs();
  }

  /** A heartbeat that was sent at that moment was acknowledged. */
  beaten(moment: Moment): void {
    this.#leases.beaten(moment);
  }

  /** Call if the database did not take a hold of an admitted request. */
  keep(hold: Unwritten): void {
    this.#unwritten.push(hold);
    this.#lookLater();
  }

  /** Returns all leases and requests no more. */
  close(): void {
    this.#closed = true;
    this.endWhere(() => true);
    clearInterval(this.#timer);
  }

  #lookLater(): void {
    if (this.#closed) return;
    this.#timer ??= setInterval(this.#look, LOOK_MS).unref();
  }

  readonly #look = (): void => {
    const nowMs = this.#options.monotonicMs();
    this.endWhere(({ drawnMs }) => nowMs - drawnMs >= IDLE_MS);
    for (const [keyId, { lastMs, isAsking }] of this.#demands)
      if (!isAsking && nowMs - lastMs >= IDLE_MS) this.#demands.delete(keyId);
    for (const hold of this.#unwritten.splice(0)) hold.sendAgain();
    for (const leaseId of this.#unreturned.splice(0)) this.#return(leaseId);
    if (this.#leases.size > 0) {
      void this.#lookForRecalls();
      return;
    }
    if (this.#demands.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  async #lookForRecalls(): Promise<void> {
    const { recalled, nodeId } = this.#options;
    if (recalled === undefined || this.#looking) return;
    this.#looking = true;
    try {
      const ids = new Set(await recalled(nodeId()));
      if (ids.size > 0) this.endWhere(({ id }) => ids.has(id));
    } catch {
      // Who cannot ask cannot beat either: soon nothing is admitted against a lease.
    } finally {
      this.#looking = false;
    }
  }
}
