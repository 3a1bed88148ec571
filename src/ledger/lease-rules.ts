/**
 * Leases of money: a part of what an account has available, set aside for one node, which admits requests against it by
 * itself. What a lease may do is decided here, over a book; who holds it in memory is `node-leases.ts`.
 */
import { dayNumber } from "../api/day.js";
import type { Book } from "./book.js";
import { freeOf } from "./grant.js";
import type { HoldOperation, LeaseName, LeaseOperation, LedgerResult, RecallOperation } from "./operation.js";
import { type Account, type BudgetRow, type LeaseRow } from "./rows.js";
import { leaseRecord } from "./transfer.js";
import { lesser } from "../money.js";

/**
 * An account is in shortage where what is free is less than so many requests ask for, and stays so until it is twice as
 * much: there are no leases then, and every hold waits for the database.
 */
const SHORTAGE_REQUESTS = 8n;
const RELIEF_REQUESTS = 2n * SHORTAGE_REQUESTS;
/** A lease takes at most one part in so many of what is free: the rest is for other nodes, and for exact holds. */
const SHARE = 2n;

/** Grants a lease of what is free, or of less; none in a shortage, of a frozen account, or to a node that is gone. */
export function lease(book: Book, operation: LeaseOperation): LedgerResult {
  const { leaseId, nodeId, accountId, keyId, nowMs } = operation;
  const known = book.leases.get(leaseId);
  if (known !== undefined) return leased(book.account(known.accountId), known.restNanos);
  const account = book.accounts.get(accountId);
  if (account === undefined) return { kind: "refused", problem: "unknown_account" };
  if (operation.requestNanos <= 0n || operation.amountNanos < operation.requestNanos)
    return { kind: "refused", problem: "amount_invalid" };
  // A node that others took for dead may come back with what it asked for before.
  if (!book.beats.has(nodeId) || account.frozen) return { kind: "lease_refused" };
  const counters = book.counters(keyId, accountId, nowMs);
  const freeNanos = freeOf(account, operation, counters);
  if (isShort(account, freeNanos, operation.requestNanos)) {
    book.setShort(account, true);
    return { kind: "lease_refused" };
  }
  book.setShort(account, false);
  const amountNanos = lesser(operation.amountNanos, freeNanos / SHARE);
  const row: LeaseRow = {
    id: leaseId,
    nodeId,
    accountId,
    keyId,
    createTimeMs: nowMs,
    counters,
    restNanos: amountNanos,
    recalled: false,
    changed: false,
  };
  move(book, row, "lease", amountNanos, nowMs);
  book.addLease(row);
  return leased(account, amountNanos);
}

function leased(account: Account, amountNanos: bigint): LedgerResult {
  return { kind: "leased", amountNanos, requestCostMaxNanos: account.requestCostMaxNanos };
}

function isShort(account: Account, freeNanos: bigint, requestNanos: bigint): boolean {
  return freeNanos < requestNanos * (account.short ? RELIEF_REQUESTS : SHORTAGE_REQUESTS);
}

/**
 * The lease that a hold names, where it may be drawn from it: it is there, of this node, key and day, and has as much.
 * The node looked at all that before; what it could not see is that another took it for dead.
 */
export function leaseFor(book: Book, operation: HoldOperation, leaseId: string): LeaseRow | undefined {
  const row = book.leases.get(leaseId);
  if (row === undefined || row.nodeId !== operation.nodeId) return undefined;
  if (row.accountId !== operation.accountId || row.keyId !== operation.keyId) return undefined;
  if (dayNumber(row.createTimeMs) !== dayNumber(operation.nowMs)) return undefined;
  return row.restNanos < operation.amountNanos ? undefined : row;
}

/** Ends a lease: its rest is free again. One that is not there has ended before. */
export function returnLease(book: Book, leaseId: string, nowMs: number): bigint {
  const row = book.leases.get(leaseId);
  if (row === undefined) return 0n;
  const { restNanos } = row;
  move(book, row, "return", -restNanos, nowMs);
  book.endLease(row);
  return restNanos;
}

/** Ends all leases of a node that is gone, or that says good-bye. */
export function endLeasesOf(book: Book, nodeId: string, nowMs: number): void {
  for (const row of book.leases.values()) if (row.nodeId === nodeId) returnLease(book, row.id, nowMs);
}

/** Asks for all leases of an account, before something changes that they were granted under. Says which are out. */
export function recall(book: Book, { accountId }: RecallOperation): LedgerResult {
  return { kind: "recalled", leases: recallAll(book, book.leasesOf(accountId)) };
}

/**
 * Marks leases, so that the nodes that have them give them back, and names them by their ids: their order in the book
 * is that of their grants, or where the book was read anew that of the database.
 */
export function recallAll(book: Book, leases: readonly LeaseRow[]): readonly LeaseName[] {
  for (const row of leases) book.recallLease(row);
  const names = leases.map(({ id, nodeId }) => ({ leaseId: id, nodeId }));
  return names.sort((one, other) => (one.leaseId < other.leaseId ? -1 : 1));
}

/** An account and counters as they would stand if every lease of the account had been given back. */
export function withoutLeases(
  account: Account,
  counters: readonly BudgetRow[],
  leases: readonly LeaseRow[],
): { readonly account: Account; readonly counters: readonly BudgetRow[] } {
  const rest = (of: readonly LeaseRow[]): bigint => of.reduce((sum, { restNanos }) => sum + restNanos, 0n);
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

function move(book: Book, row: LeaseRow, kind: "lease" | "return", pendingNanos: bigint, nowMs: number): void {
  const { accountId, id: causeId } = row;
  const said = { kind, accountId, causeId, holdSequence: 0, pendingNanos, postedNanos: 0n, createTimeMs: nowMs };
  const { sequence } = book.transfer(said, leaseRecord(row));
  book.leaseMoves.push({ sequence, lease: row });
  book.count(row, pendingNanos, 0n);
}
