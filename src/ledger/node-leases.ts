/**
 * The leases of this node, in memory: what it may admit against them, and which of them it must give back. It knows no
 * clock and sends nothing: times come in, and what is to be given back is left in `ending`.
 */
import { dayNumber } from "../api/day.js";
import { type KeyBudget } from "./rows.js";

/**
 * A node is dead to the others once they saw no beat of it for so long, each by its own clock of durations. It is
 * five beats: one lost beat costs nothing.
 */
export const SILENCE_MS = 15_000;
/** How much earlier it stops by itself. It counts from when it sent its last beat, the others from when they saw it. */
const MARGIN_MS = 2_000;
/** The clock of durations stands while a machine is suspended, and the time of day does not. */
const SUSPENDED_MS = 1_000;

/** A lease that was granted, and what is left of it for requests that are not admitted yet. */
export interface NodeLease {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** What it was granted under. A request that brings other budgets is not admitted against it. */
  readonly budgets: readonly KeyBudget[];
  /** The most that one request may cost; zero where there is no such limit. */
  readonly requestCostMaxNanos: bigint;
  readonly day: number;
  readonly grantedNanos: bigint;
  restNanos: bigint;
  /** When it was drawn on last, on the clock of durations. */
  drawnMs: number;
}

/** A request as far as its admission needs it. */
export interface Draw {
  readonly accountId: string;
  readonly keyId: string;
  readonly amountNanos: bigint;
  readonly budgets: readonly KeyBudget[];
}

/** The machine's time of day, and the clock of durations. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export class NodeLeases {
  /** Those that nothing is admitted against any more, and that are to be given back. */
  readonly ending: NodeLease[] = [];
  /** By key, the one that is drawn on first. */
  readonly #leases = new Map<string, NodeLease[]>();
  #untilMs = -Infinity;
  /** How far the time of day was ahead of the clock of durations, at the last beat. */
  #aheadMs = 0;

  get size(): number {
    return this.#leases.size;
  }

  *values(): Generator<NodeLease> {
    for (const leases of this.#leases.values()) yield* leases;
  }

  /** A beat was acknowledged that was sent at that moment: nobody takes this node for dead for a while from then on. */
  beaten({ wallMs, monotonicMs }: Moment): void {
    this.#untilMs = monotonicMs + SILENCE_MS - MARGIN_MS;
    this.#aheadMs = wallMs - monotonicMs;
  }

  /** False where others may take this node for dead by now, as far as it can know. */
  isAlive(wallMs: number, monotonicMs: number): boolean {
    return monotonicMs < this.#untilMs && wallMs - monotonicMs - this.#aheadMs < SUSPENDED_MS;
  }

  add(lease: NodeLease): void {
    const leases = this.#leases.get(lease.keyId);
    if (leases === undefined) this.#leases.set(lease.keyId, [lease]);
    else leases.push(lease);
  }

  /**
   * Takes a request's whole amount out of a lease, where one has it. Else the request goes the exact way. `nowMs` is
   * the time by which the ledger has days.
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

/** Most requests of a key bring the very budgets that the one before did. */
function isSame(some: readonly KeyBudget[], others: readonly KeyBudget[]): boolean {
  if (some === others) return true;
  if (some.length !== others.length) return false;
  return some.every((one, index) => {
    const other = others[index];
    return one.period === other?.period && one.limitNanos === other.limitNanos && one.makerId === other.makerId;
  });
}
