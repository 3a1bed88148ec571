/** A database of a few rows that never change in place. Each batch is decided by the real state machine. */
import { NO_USAGE } from "../../src/api/usage.js";
import { Book } from "../../src/ledger/book.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import type { Account, Budget, BudgetRow, HoldRow, MoneyLeaseRow } from "../../src/ledger/rows.js";

export type Decide = (book: Book, operation: LedgerOperation) => LedgerResult;

type Counter = Pick<BudgetRow, "owner" | "ownerId" | "period" | "bucket" | "pendingNanos" | "spentNanos">;

/** Counters by what each counts, as text. */
type Counters = ReadonlyMap<string, Counter>;

/** What is durable. Nothing in it is changed: a batch makes another one. */
export interface Rows {
  readonly accounts: readonly Account[];
  readonly leases: readonly MoneyLeaseRow[];
  readonly holds: readonly HoldRow[];
  readonly counters: Counters;
  readonly beats: ReadonlyMap<string, number>;
  /** How often each request was charged, and what, whatever its row says. */
  readonly charges: ReadonlyMap<string, { readonly count: number; readonly nanos: bigint }>;
  /** What was charged late, past what a budget left. */
  readonly lateNanos: bigint;
  /** The ids of all leases that there ever were: the database takes the transfer of a grant once. */
  readonly granted: ReadonlySet<string>;
}

export function emptyRows(accounts: readonly Account[]): Rows {
  const none = { leases: [], holds: [], counters: new Map(), beats: new Map(), charges: new Map() };
  return { accounts, ...none, lateNanos: 0n, granted: new Set() };
}

/** The price is none of the model's. */
export const PRICE = new Uint8Array([8, 1]);

export function accountRow(id: string, creditNanos: bigint, budgets: readonly Budget[]): Account {
  const sums = { debitsPending: 0n, debitsPosted: 0n, creditsPosted: creditNanos, debitedNanos: 0n };
  const state = { frozen: false, short: false, requestCostMaxNanos: 0n };
  return { id, budgets, ...sums, ...state, chainSequence: 0, chainHash: "00", changed: false };
}

/**
 * Decides a batch. The rows of before stay as they were. A batch that grants a lease of before once more is not taken,
 * as by the unique index over the ids of transfers: one that lands late may find that its lease came and went.
 */
export function commit(
  rows: Rows,
  operations: readonly LedgerOperation[],
  decide: Decide,
): { readonly rows: Rows; readonly results: readonly LedgerResult[] } {
  bookOf(rows);
  for (const operation of operations) loadCounters(operation, rows);
  const results = operations.map((operation) => decide(book, operation));
  const grants = book.transfers.filter(({ kind }) => kind === "lease").map(({ causeId }) => causeId);
  if (grants.some((id) => rows.granted.has(id))) return { rows, results: [] };
  return { rows: rowsOf(rows, grants), results };
}

/** Changes an account as an operator does, and asks for its leases in the same transaction. */
export function change(rows: Rows, accountId: string, to: Partial<Account>, decide: Decide): Rows {
  const accounts = rows.accounts.map((account) => (account.id === accountId ? { ...account, ...to } : account));
  return commit({ ...rows, accounts }, [{ kind: "recall", accountId, nowMs: 0 }], decide).rows;
}

/** One book for all batches, filled anew for each: a new one would cost more than all that is decided over it. */
const book = new Book();
const counterRows = new Map<string, BudgetRow>();

function bookOf(rows: Rows): Book {
  book.forgetChanges(0);
  book.accounts.clear();
  book.beats.clear();
  book.leases.clear();
  for (const [name, row] of counterRows) {
    const known = rows.counters.get(name);
    row.pendingNanos = known?.pendingNanos ?? 0n;
    row.spentNanos = known?.spentNanos ?? 0n;
  }
  book.head = { sequence: rows.holds.length, hash: "" };
  for (const account of rows.accounts) book.accounts.set(account.id, { ...account, changed: false });
  for (const [id, beats] of rows.beats) book.beats.set(id, beats);
  for (const lease of rows.leases)
    book.leases.set(lease.id, { ...lease, counters: countersOf(lease, rows), changed: false });
  for (const hold of rows.holds)
    book.holds.add({ ...hold, counters: countersOf(hold, rows), changed: false, ...UNLINKED });
  return book;
}

const UNLINKED = { chained: undefined, older: undefined, newer: undefined } as const;

type Counted = Pick<HoldRow, "keyId" | "accountId" | "createTimeMs">;

function countersOf({ keyId, accountId, createTimeMs }: Counted, rows: Rows): readonly BudgetRow[] {
  return book.counters(keyId, accountId, createTimeMs, {
    makersOf: () => [],
    load: (row) => {
      const name = nameOf(row);
      const known = rows.counters.get(name);
      row.pendingNanos = known?.pendingNanos ?? 0n;
      row.spentNanos = known?.spentNanos ?? 0n;
      counterRows.set(name, row);
    },
  });
}

function nameOf({ owner, ownerId, period, bucket }: Counter): string {
  return `${owner} ${ownerId} ${period} ${bucket}`;
}

function loadCounters(operation: LedgerOperation, rows: Rows): void {
  if (operation.kind === "hold" || operation.kind === "lease" || operation.kind === "reserve")
    countersOf({ ...operation, createTimeMs: operation.nowMs }, rows);
  if (operation.kind === "settle" && operation.terms !== undefined) countersOf(operation.terms, rows);
}

function withoutChain(account: Account): Account {
  return { ...account, chainSequence: 0, chainHash: "00" };
}

function leaseOnly(lease: MoneyLeaseRow): MoneyLeaseRow {
  return { ...lease, counters: [] };
}

function holdOnly(hold: HoldRow): HoldRow {
  return { ...hold, ...UNLINKED, usage: NO_USAGE, counters: [] };
}

function rowsOf(before: Rows, grants: readonly string[]): Rows {
  const charges = new Map(before.charges);
  let { lateNanos } = before;
  for (const { kind, causeId, postedNanos, pendingNanos } of book.transfers) {
    if (kind !== "settle") continue;
    const known = charges.get(causeId) ?? { count: 0, nanos: 0n };
    charges.set(causeId, { count: known.count + 1, nanos: known.nanos + postedNanos });
    if (pendingNanos === 0n) lateNanos += postedNanos;
  }
  const counters = new Map(before.counters);
  for (const row of book.changedBudgets) counters.set(nameOf(row), { ...row });
  return {
    accounts: [...book.accounts.values()].map(withoutChain),
    leases: [...book.leases.values()].map(leaseOnly),
    holds: [...book.holds.values()].map(holdOnly),
    counters,
    beats: new Map(book.beats),
    charges,
    lateNanos,
    granted: grants.length === 0 ? before.granted : new Set([...before.granted, ...grants]),
  };
}
