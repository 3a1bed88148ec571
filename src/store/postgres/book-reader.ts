/**
 * Brings the rows of a batch from PostgreSQL into a book. What a batch changes is under the locks of its accounts,
 * taken in the order of their ids: whoever has them reads what the last one wrote, and no two wait for each other.
 */
import assert from "node:assert";
import { Book, type CounterSource } from "../../ledger/book.js";
import type { HoldOperation, LedgerOperation } from "../../ledger/operation.js";
import { RECOVER_HOLDS_MAX } from "../../ledger/recovery.js";
import { judgedCounters, mayBeArchived } from "../../ledger/state.js";
import type { BudgetRow, MoneyLeaseRow, TotalKind } from "../../ledger/rows.js";
import { ARCHIVED_UNTIL, type BookAccountColumns, type LeaseColumns, toBookAccount, toLease } from "../book-rows.js";
import { REQUESTS, type RequestColumns, TRANSFERS, type TransferColumns, toHold, toTransfer } from "../columns.js";
import type { Session } from "./connection.js";
import { type Owned, type Owner, Owners, toOwner } from "./owners.js";
import { type Sql, sql } from "./sql.js";

/** Keys make each other no longer lines than these; a longer one is not ours. */
const MAKERS_MAX = 8;
/** Whose makers are kept; they never change. */
const KEYS_MAX = 50_000;
/** How often it is asked whose the requests of a batch are: between the question and the locks another may come. */
const ASKS_MAX = 3;

const ACCOUNTS = `SELECT id, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos,
  model_limits, line_start_day, line_amount_nanos, line_spent_nanos, line_used_up_nanos,
  frozen_time_ms, debits_pending, debits_posted,
  credits_posted, debited_nanos, short, chain_sequence, chain_hash
  FROM account WHERE id = ANY($1::text[]) ORDER BY id COLLATE "C"`;

const STATEMENTS = {
  leases: sql(`SELECT * FROM lease WHERE account_id = ANY($1::text[])
    UNION ALL SELECT * FROM lease WHERE id = ANY($2::text[]) AND NOT account_id = ANY($1::text[])
    ORDER BY account_id, create_time_ms, id`),
  accounts: sql(ACCOUNTS),
  lockedAccounts: sql(`${ACCOUNTS} FOR UPDATE`),
  requests: sql(`${REQUESTS} WHERE hold.request_id = ANY($1::text[]) ORDER BY hold.sequence`),
  named: sql(`${TRANSFERS} WHERE credit_id = ANY($1::text[])`),
  makers: sql(`WITH RECURSIVE line AS (
      SELECT id AS key_id, maker_id, 1 AS place FROM key WHERE id = ANY($1::text[])
      UNION ALL SELECT line.key_id, key.maker_id, place + 1 FROM line JOIN key ON key.id = line.maker_id
        WHERE place <= ${MAKERS_MAX}
    ) SELECT key_id, maker_id FROM line ORDER BY key_id, place`),
  budgets: sql(`SELECT budget.owner, budget.owner_id, budget.period, budget.bucket, pending_nanos, spent_nanos
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS wanted (owner, owner_id, period, bucket)
    JOIN budget USING (owner, owner_id, period, bucket)`),
  totals: sql("SELECT kind, SUM(nanos) AS nanos FROM operator_total GROUP BY kind"),
  blocks: sql("SELECT nextval('transfer_block') AS block FROM generate_series(1, $1)"),
  archived: sql(ARCHIVED_UNTIL),
  beats: sql("SELECT id, beats FROM node"),
  lockedBeats: sql(`SELECT id, beats FROM node ORDER BY id COLLATE "C" FOR UPDATE`),
  /** Nobody takes these nodes for dead before the batch has ended. */
  sharedBeats: sql(`SELECT id, beats FROM node WHERE id = ANY($1::text[]) ORDER BY id COLLATE "C" FOR SHARE`),
} as const;

/** How many places in the ledger a batch takes at once. Those that it does not use stay empty. */
export const BLOCK_SEQUENCES = 1024;
/** The most transfers that one operation makes, beside the leases that it ends: a late settlement's. */
const TRANSFERS_MAX = 3;

type BudgetColumns = Record<"owner" | "owner_id" | "period" | "bucket", string> &
  Record<"pending_nanos" | "spent_nanos", bigint>;

export class BookReader {
  readonly #makers = new Map<string, readonly string[]>();
  readonly #owners = new Owners();

  /** The book of a batch that will be written: all that it may change is locked. */
  async lock(session: Session, operations: readonly LedgerOperation[]): Promise<Book> {
    return this.#read(session, operations, true);
  }

  /** The book of a batch that nobody writes. */
  async look(session: Session, operations: readonly LedgerOperation[]): Promise<Book> {
    return this.#read(session, operations, false);
  }

  /** After a batch was decided: what it opened need not be asked for. */
  learn(book: Book): void {
    this.#owners.learn(book);
  }

  async #read(session: Session, operations: readonly LedgerOperation[], locks: boolean): Promise<Book> {
    const known = this.#owners.known(operations);
    let book = known && (await this.#readOf(session, operations, known, locks));
    for (let left = ASKS_MAX; book === undefined && left > 0; left -= 1)
      book = await this.#readOf(session, operations, await this.#owners.ask(session, operations), locks);
    assert(book !== undefined, "whose a request is never changes");
    return book;
  }

  /**
   * Undefined where a request is of somebody else than it was taken to be. All that the locks are for is sent behind
   * them and with them, so that it sees what the last batch of these accounts wrote, and waits for no answer.
   */
  async #readOf(
    session: Session,
    operations: readonly LedgerOperation[],
    owned: Owned,
    locks: boolean,
  ): Promise<Book | undefined> {
    const book = new Book();
    const accountIds = new Set([...accountIdsOf(operations), ...owned.lessees, ...owned.ending]);
    for (const { accountId } of owned.requests.values()) accountIds.add(accountId);
    const counted = countedOf(operations, owned);
    const isKnown = counted.every(({ keyId }) => this.#makers.has(keyId));
    const isEnding = operations.some((operation) => operation.kind === "recover" || isLastBeat(operation));
    const [accounts, leases, requests] = await Promise.all([
      session.rows<BookAccountColumns>(locks ? STATEMENTS.lockedAccounts : STATEMENTS.accounts, [[...accountIds]]),
      leasesOf(session, operations, owned),
      requestsOf(session, owned),
      isKnown ? this.#readBudgets(session, book, counted) : this.#readMakers(session, counted),
      readNamed(session, book, operations),
      readTotals(session, book),
      readBeats(session, book, operations, locks),
      locks && !isEnding ? readPlaces(session, book, operations, 0) : undefined,
    ]);
    for (const row of accounts) book.accounts.set(row.id, toBookAccount(row));
    const leased = leases.map(ownerOfLease);
    await this.#readMakers(session, leased);
    // Nearly always those of the operations, which are there by now.
    await this.#readBudgets(session, book, isKnown ? leased : [...counted, ...leased]);
    await this.#readJudged(session, book, operations);
    if (locks && isEnding) await readPlaces(session, book, operations, leases.length);
    for (const row of requests) {
      if (!isSame(owned.requests.get(row.request_id), toOwner(row))) return undefined;
      book.holds.add(toHold(row, book.counters(row.key_id, row.account_id, Number(row.create_time_ms))));
    }
    for (const row of leases) book.leases.set(row.id, this.#toLease(book, row));
    if (mayBeArchived(book, operations)) await readArchived(session, book);
    return book;
  }

  #toLease(book: Book, row: LeaseColumns): MoneyLeaseRow {
    const { accountId, keyId, timeMs } = ownerOfLease(row);
    // Its counters were asked for with those of the operations.
    return toLease(row, book.counters(keyId, accountId, timeMs));
  }

  async #readMakers(session: Session, counted: readonly Owner[]): Promise<void> {
    if (this.#makers.size > KEYS_MAX) this.#makers.clear();
    const unknown = new Set(counted.map(({ keyId }) => keyId).filter((keyId) => !this.#makers.has(keyId)));
    if (unknown.size === 0) return;
    const rows = await session.rows<{ key_id: string; maker_id: string | null }>(STATEMENTS.makers, [[...unknown]]);
    const lines = new Map<string, string[]>();
    for (const { key_id: keyId, maker_id: makerId } of rows) {
      const line = lines.get(keyId) ?? [];
      lines.set(keyId, line);
      if (makerId !== null && line.length < MAKERS_MAX) line.push(makerId);
    }
    // A key that is not there yet may come, with a maker.
    for (const [keyId, line] of lines) this.#makers.set(keyId, line);
  }

  async #readBudgets(session: Session, book: Book, counted: readonly Owner[]): Promise<void> {
    const wanted: Wanted = new Map();
    const source = this.#source(wanted);
    for (const { keyId, accountId, timeMs } of counted) book.counters(keyId, accountId, timeMs, source);
    await readWanted(session, wanted);
  }

  /** The other counters of the week or the quarter, where an account or a key has such a budget. */
  async #readJudged(session: Session, book: Book, operations: readonly LedgerOperation[]): Promise<void> {
    const wanted: Wanted = new Map();
    const source = this.#source(wanted);
    for (const operation of operations) {
      const asker = askerOf(operation);
      const account = asker && book.accounts.get(asker.accountId);
      if (asker === undefined || account === undefined) continue;
      const counters = book.counters(asker.keyId, asker.accountId, asker.nowMs, source);
      judgedCounters(book, counters, asker, account, source);
    }
    await readWanted(session, wanted);
  }

  #source(wanted: Wanted): CounterSource {
    return {
      makersOf: (keyId) => this.#makers.get(keyId) ?? [],
      load: (row) => void wanted.set(nameOf(row.owner, row.ownerId, row.period, row.bucket), row),
    };
  }
}

type Wanted = Map<string, BudgetRow>;

/** Reads the sums of new rows. */
async function readWanted(session: Session, wanted: Wanted): Promise<void> {
  if (wanted.size === 0) return;
  const rows = [...wanted.values()];
  const columns = [rows.map((row) => row.owner), rows.map((row) => row.ownerId)];
  columns.push(
    rows.map((row) => row.period),
    rows.map((row) => row.bucket),
  );
  for (const found of await session.rows<BudgetColumns>(STATEMENTS.budgets, columns)) {
    const row = wanted.get(nameOf(found.owner, found.owner_id, found.period, found.bucket));
    if (row === undefined) continue;
    row.pendingNanos = found.pending_nanos;
    row.spentNanos = found.spent_nanos;
  }
}

function nameOf(...parts: readonly string[]): string {
  return parts.join(" ");
}

function accountIdsOf(operations: readonly LedgerOperation[]): string[] {
  return operations.flatMap((operation) => {
    if (operation.kind === "settle") return operation.terms === undefined ? [] : [operation.terms.accountId];
    return "accountId" in operation ? [operation.accountId] : [];
  });
}

/** Whose counters the operations may change: also of what is not there, where it was taken to be. */
function countedOf(operations: readonly LedgerOperation[], { requests }: Owned): Owner[] {
  const counted = [...requests.values()];
  for (const operation of operations) {
    if (operation.kind === "hold" || operation.kind === "lease" || operation.kind === "reserve")
      counted.push({ keyId: operation.keyId, accountId: operation.accountId, timeMs: operation.nowMs });
    else if (operation.kind === "settle" && operation.terms !== undefined)
      counted.push({ ...operation.terms, timeMs: operation.terms.createTimeMs });
  }
  return counted;
}

/** Who asks for money, and under which budgets. */
function askerOf(
  operation: LedgerOperation,
): Pick<HoldOperation, "accountId" | "keyId" | "budgets" | "nowMs"> | undefined {
  if (operation.kind === "settle")
    return operation.terms && { ...operation.terms, nowMs: operation.terms.createTimeMs };
  return "budgets" in operation ? operation : undefined;
}

function ownerOfLease(row: LeaseColumns): Owner {
  return { keyId: row.key_id, accountId: row.account_id, timeMs: Number(row.create_time_ms) };
}

function isSame(one: Owner | undefined, other: Owner): boolean {
  return one?.accountId === other.accountId && one.keyId === other.keyId && one.timeMs === other.timeMs;
}

function isLastBeat(operation: LedgerOperation): boolean {
  return operation.kind === "beat" && operation.isLast;
}

function requestsOf(session: Session, { requests }: Owned): Promise<RequestColumns[]> {
  if (requests.size === 0) return Promise.resolve([]);
  return session.rows<RequestColumns>(STATEMENTS.requests, [[...requests.keys()]]);
}

/**
 * All leases of the accounts that may recall or end them, or whose answers say what is available; of the others those
 * that operations name.
 */
function leasesOf(
  session: Session,
  operations: readonly LedgerOperation[],
  { requests, ending }: Owned,
): Promise<LeaseColumns[]> {
  const accountIds = new Set(ending);
  const leaseIds: string[] = [];
  for (const operation of operations) {
    if ("leaseId" in operation && operation.leaseId !== undefined) leaseIds.push(operation.leaseId);
    else if (operation.kind === "settle" && operation.terms?.jobId !== undefined) leaseIds.push(operation.terms.jobId);
    else if ("accountId" in operation) accountIds.add(operation.accountId);
    else if (operation.kind === "refund") {
      const owner = requests.get(operation.requestId);
      if (owner !== undefined) accountIds.add(owner.accountId);
    }
  }
  if (accountIds.size === 0 && leaseIds.length === 0) return Promise.resolve([]);
  return session.rows<LeaseColumns>(STATEMENTS.leases, [[...accountIds], leaseIds]);
}

/** Credits, refunds, debits and receivables, by the ids that operators gave them, and reserves of jobs. */
async function readNamed(session: Session, book: Book, operations: readonly LedgerOperation[]): Promise<void> {
  const ids: string[] = [];
  for (const operation of operations) {
    if (operation.kind === "credit") ids.push(operation.creditId);
    else if (operation.kind === "refund") ids.push(operation.refundId);
    else if (operation.kind === "debit") ids.push(operation.debitId);
    else if (operation.kind === "reserve") ids.push(operation.jobId);
  }
  if (ids.length === 0) return;
  for (const row of await session.rows<TransferColumns>(STATEMENTS.named, [ids])) {
    const transfer = toTransfer(row);
    if (transfer.kind === "credit") book.credits.set(transfer.causeId, transfer);
    else book.addNamed(transfer);
  }
}

async function readTotals(session: Session, book: Book): Promise<void> {
  for (const { kind, nanos } of await session.rows<{ kind: TotalKind; nanos: bigint }>(STATEMENTS.totals))
    book.totals[kind].nanos = nanos;
}

async function readArchived(session: Session, book: Book): Promise<void> {
  const [row] = await session.rows<{ until_ms: bigint | null }>(STATEMENTS.archived);
  book.archivedUntilMs = Number(row?.until_ms ?? 0n);
}

/**
 * A recovery judges other nodes by their beats, so that none may beat meanwhile; and none is taken for dead while it is
 * given a lease, which would be ended by nobody then.
 */
async function readBeats(
  session: Session,
  book: Book,
  operations: readonly LedgerOperation[],
  locks: boolean,
): Promise<void> {
  const judges = operations.some(({ kind }) => kind === "recover");
  const lessees = operations.flatMap((operation) => (operation.kind === "lease" ? [operation.nodeId] : []));
  const take = async (statement: Sql, values: readonly unknown[] = []): Promise<void> => {
    for (const { id, beats } of await session.rows<{ id: string; beats: bigint }>(statement, values))
      book.beats.set(id, Number(beats));
  };
  if (judges && locks) return take(STATEMENTS.lockedBeats);
  if (lessees.length > 0 && locks) await take(STATEMENTS.sharedBeats, [[...new Set(lessees)]]);
  if (judges || operations.some(({ kind }) => kind === "beat") || !locks) await take(STATEMENTS.beats);
}

/** Taken once the accounts are locked, so that the places rise within each account. */
async function readPlaces(
  session: Session,
  book: Book,
  operations: readonly LedgerOperation[],
  leases: number,
): Promise<void> {
  const recoveries = operations.filter(({ kind }) => kind === "recover").length;
  const transfers = TRANSFERS_MAX * (operations.length + recoveries * RECOVER_HOLDS_MAX) + leases;
  const rows = await session.rows<{ block: bigint }>(STATEMENTS.blocks, [Math.ceil(transfers / BLOCK_SEQUENCES)]);
  book.takePlaces(
    rows.map(({ block }) => Number(block) * BLOCK_SEQUENCES),
    BLOCK_SEQUENCES,
  );
}
