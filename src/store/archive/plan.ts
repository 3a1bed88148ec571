/**
 * What of an account's next places goes, and what stays. Requests that were charged or freed by themselves go, each
 * whole, and a lease goes with all that was drawn from it. What an operator named stays for good, so that no credit,
 * refund or debit is taken twice, with the requests that refunds are of; and so do requests that recovery freed, which
 * may still be charged late. What is not over yet waits for a later archive.
 */
import { JOB_NODE } from "../../ledger/rows.js";
import type { TransferKind } from "../../ledger/transfer.js";

/** A transfer of the next places, or one of those before that wait. */
export interface PlaceColumns {
  readonly sequence: bigint;
  readonly account_sequence: bigint;
  readonly kind: TransferKind;
  readonly hold_sequence: bigint;
  readonly credit_id: string | null;
  readonly lease_id: string | null;
  readonly node_id: string | null;
  readonly usage_source: bigint | null;
  readonly overage_nanos: bigint | null;
  readonly pending_nanos: bigint;
  readonly posted_nanos: bigint;
  readonly hash: Uint8Array;
  /** 1 of one that waits since an archive before; else 0. */
  readonly waiting: bigint;
}

export interface KeptPlace {
  readonly sequence: bigint;
  readonly previousHash: Uint8Array;
  readonly waits: boolean;
}

export interface ArchivePlan {
  /** The sequences of transfers that go, and of the holds among them. */
  readonly gone: readonly bigint[];
  readonly goneHolds: readonly bigint[];
  /** Of the next places, what stays. */
  readonly kept: readonly KeptPlace[];
  /** What waited, and now stays for good. */
  readonly stays: readonly bigint[];
  /** What the next places change of the account, as its entries say it. */
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
}

type Fate = "goes" | "waits" | "stays";

/** A request, or a lease with the requests that drew on it. */
interface Unit {
  fate: Fate;
  readonly holds: Request[];
}

interface Request {
  readonly sequence: bigint;
  readonly lease: string | null;
  fate: Fate;
}

/**
 * `rows` are in the order of their places. `refunded` has the holds of the account that were refunded, at any place.
 * `before` is the hash before the first of the next places.
 */
export function planOf(rows: readonly PlaceColumns[], refunded: ReadonlySet<bigint>, before: Uint8Array): ArchivePlan {
  const requests = requestsOf(rows, refunded);
  const leases = leasesOf(rows, requests);
  const fateOf = (row: PlaceColumns): Fate => {
    if (row.kind === "lease" || row.kind === "return") return leases.get(row.credit_id ?? "")?.fate ?? "stays";
    if (row.credit_id !== null) return "stays";
    // A hold that is not among the rows stays for good, and with it whatever comes of its request.
    return requests.get(row.hold_sequence)?.fate ?? "stays";
  };
  const gone: bigint[] = [];
  const goneHolds: bigint[] = [];
  const kept: KeptPlace[] = [];
  const stays: bigint[] = [];
  let [availableNanos, heldNanos, previousHash] = [0n, 0n, before];
  for (const row of rows) {
    const fate = fateOf(row);
    if (fate === "goes") gone.push(row.sequence);
    if (fate === "goes" && row.kind === "hold") goneHolds.push(row.sequence);
    if (row.waiting === 1n) {
      if (fate === "stays") stays.push(row.sequence);
      continue;
    }
    if (fate !== "goes") kept.push({ sequence: row.sequence, previousHash, waits: fate === "waits" });
    const change = changeOf(row);
    availableNanos += change.availableNanos;
    heldNanos += change.heldNanos;
    previousHash = row.hash;
  }
  return { gone, goneHolds, kept, stays, availableNanos, heldNanos };
}

function requestsOf(rows: readonly PlaceColumns[], refunded: ReadonlySet<bigint>): Map<bigint, Request> {
  const requests = new Map<bigint, Request>();
  const overages = new Set<bigint>();
  for (const { kind, sequence, lease_id: lease, hold_sequence: hold } of rows) {
    if (kind === "hold") requests.set(sequence, { sequence, lease, fate: "waits" });
    if (kind === "overage") overages.add(hold);
  }
  for (const row of rows) {
    const request = requests.get(row.hold_sequence);
    if (request === undefined || request.fate === "stays") continue;
    const isWhole = row.overage_nanos === 0n || overages.has(request.sequence);
    if (refunded.has(request.sequence) || isRelease(row)) request.fate = "stays";
    else if (row.usage_source !== null && isWhole) request.fate = "goes";
  }
  return requests;
}

/** How recovery ends a hold: without a usage. */
function isRelease({ kind, usage_source: source }: PlaceColumns): boolean {
  return (kind === "void" || kind === "expire") && source === null;
}

/** Each lease among the rows, and the fate that its requests share with it. */
function leasesOf(rows: readonly PlaceColumns[], requests: ReadonlyMap<bigint, Request>): Map<string, Unit> {
  const leases = new Map<string, Unit>();
  for (const { kind, credit_id: id } of rows)
    if (kind === "lease" && id !== null) leases.set(id, { fate: "waits", holds: [] });
  for (const { kind, credit_id: id } of rows) {
    const lease = kind === "return" && id !== null ? leases.get(id) : undefined;
    if (lease !== undefined) lease.fate = "goes";
  }
  for (const request of requests.values()) {
    if (request.lease === null) continue;
    const lease = leases.get(request.lease);
    if (lease === undefined) request.fate = "stays";
    else lease.holds.push(request);
  }
  for (const lease of leases.values()) {
    const fates = new Set([lease.fate, ...lease.holds.map(({ fate }) => fate)]);
    lease.fate = fates.has("stays") ? "stays" : fates.has("waits") ? "waits" : "goes";
    for (const request of lease.holds) request.fate = lease.fate;
  }
  return leases;
}

/** As an account's entries say it: what a node's lease has left is available, and what a job set aside is held. */
function changeOf({ kind, node_id: node, pending_nanos: pending, posted_nanos: posted }: PlaceColumns): {
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
} {
  if (node === JOB_NODE) {
    const held = kind === "hold" ? 0n : pending;
    return { availableNanos: -held, heldNanos: held };
  }
  switch (kind) {
    case "credit":
    case "refund":
      return { availableNanos: posted, heldNanos: 0n };
    case "lease":
    case "return":
    case "overage":
    case "receivable":
      return { availableNanos: 0n, heldNanos: 0n };
    default:
      return { availableNanos: -pending - posted, heldNanos: pending };
  }
}
