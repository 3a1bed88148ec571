/** The rows of the running ledger: what accounts have, and what leases, jobs and requests took of it. */
import type {
  BeatOperation,
  CheckpointOperation,
  HoldOperation,
  LedgerResult,
  NodeBeats,
} from "../../src/ledger/operation.js";

export interface Sums {
  granted: bigint;
  held: bigint;
  spent: bigint;
}

export interface Lease {
  readonly id: string;
  readonly nodeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly day: string;
  readonly nowMs: number;
  readonly names: readonly string[];
  rest: bigint;
  recalled: boolean;
}

export interface Request {
  readonly hold: HoldOperation;
  readonly granted: bigint;
  /** What counts it. */
  readonly names: readonly string[];
  state: "held" | "settled" | "voided" | "expired";
  byRecovery: boolean;
  paid: bigint;
  refunded: bigint;
  overage: bigint;
  noteCost: bigint;
  noteTokens: bigint;
  /** The most that it pays, where its hold came late. */
  most?: bigint;
}

/** What is asked for without a lease. */
export type Asked = Pick<HoldOperation, "accountId" | "keyId" | "budgets" | "amountNanos" | "leastNanos" | "nowMs"> & {
  readonly isJob?: boolean;
};

/** What leases have left together. */
export const rests = (leases: readonly Lease[]): bigint => leases.reduce((sum, { rest }) => sum + rest, 0n);

/** Recalls leases, and names them by id. */
export function recallAll(leases: readonly Lease[]): { leaseId: string; nodeId: string }[] {
  for (const lease of leases) lease.recalled = true;
  const names = leases.map(({ id, nodeId }) => ({ leaseId: id, nodeId }));
  return names.sort((one, other) => (one.leaseId < other.leaseId ? -1 : 1));
}

/** Keeps what a request delivered, unless it ended or a later checkpoint came before. */
export function checkpoint(request: Request | undefined, { costNanos, usage }: CheckpointOperation): LedgerResult {
  if (request === undefined) return { kind: "refused", problem: "unknown_request" };
  const tokens = usage.outputTokens;
  if (request.state !== "held" || costNanos < request.noteCost || tokens < request.noteTokens) return { kind: "noted" };
  [request.noteCost, request.noteTokens] = [costNanos, tokens];
  return { kind: "noted" };
}

/** True if a hold that is asked for again may be answered again. */
export function isSameHold({ hold: known, state, granted }: Request, hold: HoldOperation): boolean {
  const who = (one: HoldOperation): string => [one.accountId, one.keyId, one.nodeId, one.amountNanos].join(" ");
  return state === "held" && who(known) === who(hold) && granted >= hold.leastNanos;
}

/** How often each node was heard of. */
export class RunningBeats {
  readonly #beats = new Map<string, number>();

  clear(): void {
    this.#beats.clear();
  }

  has(nodeId: string): boolean {
    return this.#beats.has(nodeId);
  }

  take({ nodeId, isLast, isFirst }: BeatOperation): LedgerResult {
    if (isFirst === false && !this.#beats.has(nodeId)) return { kind: "gone" };
    const beats = (this.#beats.get(nodeId) ?? 0) + 1;
    if (isLast) this.#beats.delete(nodeId);
    else this.#beats.set(nodeId, beats);
    const others = [...this.#beats].filter(([other]) => other !== nodeId);
    return { kind: "beaten", others: others.map(([other, count]) => ({ nodeId: other, beats: count })) };
  }

  isAlive(nodeId: string, silent: readonly NodeBeats[]): boolean {
    const beats = this.#beats.get(nodeId);
    return beats !== undefined && !silent.some((seen) => seen.nodeId === nodeId && seen.beats === beats);
  }

  forget(silent: readonly NodeBeats[]): void {
    for (const { nodeId, beats } of silent) if (this.#beats.get(nodeId) === beats) this.#beats.delete(nodeId);
  }
}
