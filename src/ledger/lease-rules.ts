/**
 * Rules for leases of money. A lease is a part of an account's available balance that is set aside for one node, which
 * admits requests against it alone. The rules are decided here, over a book; `node-leases.ts` keeps the leases in
 * memory.
 */
import { dayNumber } from "../base/day.js";
import type { Book } from "./book.js";
import { renewLine } from "./credit-line.js";
import { freeOf } from "./grant.js";
import type { HoldOperation, MoneyLeaseName, MoneyLeaseOperation, LedgerResult, RecallOperation } from "./operation.js";
import { judgedCounters } from "./periods.js";
import { type Account, type BudgetRow, JOB_NODE, type MoneyLeaseRow } from "./rows.js";
import { leaseRecord } from "./hash-chain.js";
import type { Transfer } from "./transfer.js";
import { lesser } from "../base/money.js";

/**
 * An account is in shortage if less is free than this many requests ask for, until twice as much is free. In a shortage
 * there are no leases, and every hold waits for the database.
 */
const SHORTAGE_REQUESTS = 8n;
const RELIEF_REQUESTS = 2n * SHORTAGE_REQUESTS;
/** A lease takes at most one part in this many of the free balance: the rest is for other nodes and exact holds. */
const SHARE = 2n;

/**
 * Grants a lease of the free balance, or less; none in a shortage, for a frozen account, or for a node that is gone.
 */
export function lease(book: Book, operation: MoneyLeaseOperation): LedgerResult {
  const { leaseId, nodeId, accountId, keyId, nowMs } = operation;
  const known = book.leases.get(leaseId);
  if (known !== undefined) return leased(book.account(known.accountId), known.restNanos);
  const account = book.accounts.get(accountId);
  if (account === undefined) return { kind: "refused", problem: "unknown_account" };
  if (operation.requestNanos <= 0n || operation.amountNanos < operation.requestNanos)
    return { kind: "refused", problem: "amount_invalid" };
  // A node that others took for dead may come back with what it asked for before.
  if (!book.beats.has(nodeId) || account.frozen) return { kind: "lease_refused" };
  renewLine(book, account, nowMs);
  const counters = book.counters(keyId, accountId, nowMs);
  const freeNanos = freeOf(account, operation, judgedCounters(book, counters, operation, account));
  if (isShort(account, freeNanos, operation.requestNanos)) {
    book.setShort(account, true);
    return { kind: "lease_refused" };
  }
  book.setShort(account, false);
  const amountNanos = lesser(operation.amountNanos, freeNanos / SHARE);
  addLease(book, { id: leaseId, nodeId, accountId, keyId, createTimeMs: nowMs, counters, restNanos: amountNanos });
  return leased(account, amountNanos);
}

/** Sets the money of a new lease aside. */
export function addLease(book: Book, said: Omit<MoneyLeaseRow, "recalled" | "changed">): Transfer {
  const row: MoneyLeaseRow = { ...said, recalled: false, changed: false };
  const transfer = move(book, row, "lease", row.restNanos, row.createTimeMs);
  book.addLease(row);
  return transfer;
}

function leased(account: Account, amountNanos: bigint): LedgerResult {
  return { kind: "leased", amountNanos, requestCostMaxNanos: account.requestCostMaxNanos };
}

function isShort(account: Account, freeNanos: bigint, requestNanos: bigint): boolean {
  return freeNanos < requestNanos * (account.short ? RELIEF_REQUESTS : SHORTAGE_REQUESTS);
}

/**
 * The lease that a hold names, if the hold may draw on it: it exists, is of this node, key and day, and has enough
 * left. The node checked that before; it could only miss that another node considered it dead.
 */
export function leaseFor(book: Book, operation: HoldOperation, leaseId: string): MoneyLeaseRow | undefined {
  const row = book.leases.get(leaseId);
  if (row === undefined || row.nodeId !== operation.nodeId) return undefined;
  if (row.accountId !== operation.accountId || row.keyId !== operation.keyId) return undefined;
  if (dayNumber(row.createTimeMs) !== dayNumber(operation.nowMs)) return undefined;
  return row.restNanos < operation.amountNanos ? undefined : row;
}

/** Ends a lease and frees its rest. A lease that does not exist has ended before. */
export function returnLease(book: Book, leaseId: string, nowMs: number): bigint {
  const row = book.leases.get(leaseId);
  if (row === undefined) return 0n;
  const { restNanos } = row;
  move(book, row, "return", -restNanos, nowMs);
  book.endLease(row);
  return restNanos;
}

/** Ends all leases of a node that is gone or that shuts down. */
export function endLeasesOf(book: Book, nodeId: string, nowMs: number): void {
  for (const row of book.leases.values()) if (row.nodeId === nodeId) returnLease(book, row.id, nowMs);
}

/** Ends what nodes have: for a preview, since it comes back as soon as a request lacks it. Jobs keep theirs. */
export function endNodeLeases(book: Book): void {
  for (const { id, nodeId } of book.leases.values()) if (nodeId !== JOB_NODE) returnLease(book, id, 0);
}

/** Recalls all leases of an account, before a change of what they were granted under. Returns which are out. */
export function recall(book: Book, { accountId }: RecallOperation): LedgerResult {
  return { kind: "recalled", leases: recallAll(book, book.leasesOf(accountId)) };
}

/**
 * Marks leases as recalled, so that their nodes return them, and returns them by id: their order in the book is that of
 * their grants, or after the book was read anew, that of the database.
 */
export function recallAll(book: Book, leases: readonly MoneyLeaseRow[]): readonly MoneyLeaseName[] {
  for (const row of leases) book.recallLease(row);
  const names = leases.map(({ id, nodeId }) => ({ leaseId: id, nodeId }));
  return names.sort((one, other) => (one.leaseId < other.leaseId ? -1 : 1));
}

/** An account and counters as they would be if every lease of the account had been returned. */
export function withoutLeases(
  account: Account,
  counters: readonly BudgetRow[],
  leases: readonly MoneyLeaseRow[],
): { readonly account: Account; readonly counters: readonly BudgetRow[] } {
  const rest = (of: readonly MoneyLeaseRow[]): bigint => of.reduce((sum, { restNanos }) => sum + restNanos, 0n);
  return {
    account: { ...account, debitsPending: account.debitsPending - rest(leases) },
    counters: counters.map((row) => {
      const counted = leases.filter((lease) => lease.counters.some((counter) => isSameCounter(counter, row)));
      return { ...row, pendingNanos: row.pendingNanos - rest(counted) };
    }),
  };
}

function isSameCounter(one: BudgetRow, other: BudgetRow): boolean {
  const same = one.owner === other.owner && one.ownerId === other.ownerId;
  return same && one.period === other.period && one.bucket === other.bucket;
}

function move(book: Book, row: MoneyLeaseRow, kind: "lease" | "return", pendingNanos: bigint, nowMs: number): Transfer {
  const { accountId, id: causeId } = row;
  const said = { kind, accountId, causeId, holdSequence: 0, pendingNanos, postedNanos: 0n, createTimeMs: nowMs };
  const transfer = book.transfer(said, leaseRecord(row));
  book.leaseMoves.push({ sequence: transfer.sequence, lease: row });
  book.count(row, pendingNanos, 0n);
  return transfer;
}
