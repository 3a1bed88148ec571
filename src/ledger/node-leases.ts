/**
 * The leases of this node, in memory: what it may admit against them, and which it must return. It reads no clock and
 * sends nothing: times are arguments, and leases to return are in `ending`.
 */
import { dayNumber } from "../base/day.js";
import { type KeyBudget } from "./rows.js";

/**
 * Other nodes consider a node dead once they saw no heartbeat of it for this long, each by its own monotonic clock. It
 * is five heartbeats: one lost heartbeat has no effect.
 */
export const SILENCE_MS = 15_000;
/**
 * How much earlier the node stops by itself. It counts from when it sent its last heartbeat, others from when they saw
 * it.
 */
const MARGIN_MS = 2_000;
/** The monotonic clock stops while a machine is suspended, and the time of day does not. */
const SUSPENDED_MS = 1_000;

/** A granted lease, and what is left of it for requests that are not admitted yet. */
export interface NodeLease {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The budgets under which it was granted. A request with other budgets is not admitted against it. */
  readonly budgets: readonly KeyBudget[];
  /** The most that one request may cost; zero if there is no such limit. */
  readonly requestCostMaxNanos: bigint;
  readonly day: number;
  readonly grantedNanos: bigint;
  restNanos: bigint;
  /** When it was last drawn on, on the monotonic clock. */
  drawnMs: number;
}

/** What the admission needs of a request. */
export interface Draw {
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNanos: bigint;
  readonly budgets: readonly KeyBudget[];
}

/** The machine's time of day, and the monotonic clock. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export class NodeLeases {
  /** Leases that are closed for admissions and are to be returned. */
  readonly ending: NodeLease[] = [];
  /** By key, the one to draw on first. */
  readonly #leases = new Map<string, NodeLease[]>();
  #untilMs = -Infinity;
  /** How far the time of day was ahead of the monotonic clock at the last heartbeat. */
  #aheadMs = 0;

  get size(): number {
    return this.#leases.size;
  }

  *values(): Generator<NodeLease> {
    for (const leases of this.#leases.values()) yield* leases;
  }

  /**
   * A heartbeat that was sent at that moment was acknowledged: from then on no node considers this node dead for a
   * while.
   */
  beaten({ wallMs, monotonicMs }: Moment): void {
    this.#untilMs = monotonicMs + SILENCE_MS - MARGIN_MS;
    this.#aheadMs = wallMs - monotonicMs;
  }

  /** False if other nodes may consider this node dead by now, as far as it can know. */
  isAlive(wallMs: number, monotonicMs: number): boolean {
    return monotonicMs < this.#untilMs && wallMs - monotonicMs - this.#aheadMs < SUSPENDED_MS;
  }

  add(lease: NodeLease): void {
    const leases = this.#leases.get(lease.keyId);
    if (leases === undefined) this.#leases.set(lease.keyId, [lease]);
    else leases.push(lease);
  }

  /**
   * Takes a request's whole amount from a lease, if one has it. Else the request needs an exact hold. `nowMs` is the
   * time by which the ledger has days.
   */
  draw(request: Draw, nowMs: number, wallMs: number, monotonicMs: number): NodeLease | undefined {
    const leases = this.#leases.get(request.keyId);
    if (leases === undefined) return undefined;
    if (!this.isAlive(wallMs, monotonicMs)) {
      this.endWhere(() => true);
      return undefined;
    }
    const { amountNanos } = request;
    for (let lease = leases[0]; lease !== undefined; lease = leases[0]) {
      if (isFor(lease, request, nowMs)) {
        if (lease.requestCostMaxNanos > 0n && amountNanos > lease.requestCostMaxNanos) return undefined;
        if (lease.restNanos >= amountNanos) {
          lease.restNanos -= amountNanos;
          lease.drawnMs = monotonicMs;
          return lease;
        }
        // A large request must not end the only one.
        if (leases.length === 1) return undefined;
      }
      leases.shift();
      this.ending.push(lease);
    }
    this.#leases.delete(request.keyId);
    return undefined;
  }

  /** How much is left for a key, over all its leases. */
  restOf(keyId: string): bigint {
    let restNanos = 0n;
    for (const lease of this.#leases.get(keyId) ?? []) restNanos += lease.restNanos;
    return restNanos;
  }

  endWhere(ends: (lease: NodeLease) => boolean): void {
    for (const [keyId, leases] of this.#leases) {
      const kept = leases.filter((lease) => !ends(lease));
      if (kept.length === leases.length) continue;
      this.ending.push(...leases.filter(ends));
      if (kept.length > 0) this.#leases.set(keyId, kept);
      else this.#leases.delete(keyId);
    }
  }
}

function isFor(lease: NodeLease, { accountId, budgets }: Draw, nowMs: number): boolean {
  return lease.accountId === accountId && lease.day === dayNumber(nowMs) && isSame(lease.budgets, budgets);
}

/** Most requests of a key carry exactly the budgets of the request before. */
function isSame(some: readonly KeyBudget[], others: readonly KeyBudget[]): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  return some.every((one, index) => {
    const other = others[index];
    return one.period === other?.period && one.limitNanos === other.limitNanos && one.makerId === other.makerId;
  });
}
