/**
 * Brings the rows of a batch from PostgreSQL into a book. What a batch changes is under the locks of its accounts,
 * taken in the order of their ids: whoever has them reads what the last one wrote, and no two wait for each other.
 */
import { Book, type CounterSource } from "../../ledger/book.js";
import type { LedgerOperation, RecoverOperation } from "../../ledger/operation.js";
import { isGone, RECOVER_HOLDS_MAX } from "../../ledger/recovery.js";
import type { BudgetRow, TotalKind } from "../../ledger/rows.js";
import { CHAIN_START } from "../../ledger/transfer.js";
import { type BookAccountColumns, toBookAccount } from "../book-rows.js";
import { REQUESTS, type RequestColumns, TRANSFERS, type TransferColumns, toHold, toTransfer } from "../columns.js";
import type { Session } from "./connection.js";
import { sql } from "./sql.js";

/** Keys make each other no longer lines than these; a longer one is not ours. */
const MAKERS_MAX = 8;
/** Whose makers are kept; they never change. */
const KEYS_MAX = 50_000;

const ACCOUNTS = `SELECT id, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos,
  frozen_time_ms, debits_pending, debits_posted, credits_posted, debited_nanos, short, chain_sequence,
  chain_hash FROM account WHERE id = ANY($1::text[]) ORDER BY id COLLATE "C"`;

const STATEMENTS = {
  /** What never changes of a request: who it is of. */
  owners: sql(`SELECT request_id, account_id, key_id, create_time_ms FROM hold WHERE request_id = ANY($1::text[])`),
  orphans: sql(`SELECT request_id, hold.account_id, key_id, create_time_ms FROM open_hold
    JOIN hold ON hold.sequence = hold_sequence WHERE open_hold.node_id = $1 AND NOT request_id = ANY($2::text[])
    ORDER BY hold_sequence LIMIT ${RECOVER_HOLDS_MAX}`),
  holders: sql("SELECT DISTINCT node_id FROM open_hold"),
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
  block: sql("SELECT nextval('transfer_block') AS block"),
  beats: sql("SELECT id, beats FROM node"),
  lockedBeats: sql(`SELECT id, beats FROM node ORDER BY id COLLATE "C" FOR UPDATE`),
} as const;

/** How many places in the ledger a batch takes at once. Those that it does not use stay empty. */
export const BLOCK_SEQUENCES = 1024;

interface OwnerColumns {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly create_time_ms: bigint;
}

/** A key's counters of one moment. */
interface Counted {
  readonly keyId: string;
  readonly accountId: string;
  readonly timeMs: number;
}

type BudgetColumns = Record<"owner" | "owner_id" | "period" | "bucket", string> &
  Record<"pending_nanos" | "spent_nanos", bigint>;

export class BookReader {
  readonly #makers = new Map<string, readonly string[]>();

  /** The book of a batch that will be written: all that it may change is locked. */
  async lock(session: Session, operations: readonly LedgerOperation[]): Promise<Book> {
    return this.#read(session, operations, true);
  }

  /** The book of a batch that nobody writes. */
  async look(session: Session, operations: readonly LedgerOperation[]): Promise<Book> {
    return this.#read(session, operations, false);
  }

  async #read(session: Session, operations: readonly LedgerOperation[], locks: boolean): Promise<Book> {
    const book = new Book({ keepsLeases: false });
    const [owners, orphans] = await Promise.all([
      this.#owners(session, requestIdsOf(operations)),
      this.#orphans(session, operations),
    ]);
    const requests = [...owners, ...orphans];
    const counted = countedOf(operations, requests);
    const accountIds = new Set([...accountIdsOf(operations), ...requests.map((owner) => owner.account_id)]);
    const [accounts] = await Promise.all([
      session.rows<BookAccountColumns>(locks ? STATEMENTS.lockedAccounts : STATEMENTS.accounts, [[...accountIds]]),
      this.#readMakers(session, counted),
    ]);
    for (const row of accounts) book.accounts.set(row.id, toBookAccount(row));
    await Promise.all([
      this.#readBudgets(session, book, counted),
      this.#readRequests(session, book, requests),
      readNamed(session, book, operations),
      readTotals(session, book),
      readBeats(session, book, operations, locks),
      locks ? readPlace(session, book) : undefined,
    ]);
    return book;
  }

  #owners(session: Session, requestIds: readonly string[]): Promise<OwnerColumns[]> {
    if (requestIds.length === 0) return Promise.resolve([]);
    return session.rows<OwnerColumns>(STATEMENTS.owners, [requestIds]);
  }

  /** At most as many of each node as one recovery resolves; what changes before they are locked is read again. */
  async #orphans(session: Session, operations: readonly LedgerOperation[]): Promise<OwnerColumns[]> {
    const recoveries = operations.filter((operation) => operation.kind === "recover");
    if (recoveries.length === 0) return [];
    const nodes = new Book();
    const [beats, holders] = await Promise.all([
      session.rows<{ id: string; beats: bigint }>(STATEMENTS.beats),
      session.rows<{ node_id: string }>(STATEMENTS.holders),
    ]);
    for (const { id, beats: count } of beats) nodes.beats.set(id, Number(count));
    const found: OwnerColumns[] = [];
    for (const operation of recoveries)
      for (const { node_id: nodeId } of holders)
        if (mayHaveOrphans(nodes, nodeId, operation)) found.push(...(await orphansOf(session, nodeId, operation)));
    return found;
  }

  async #readMakers(session: Session, counted: readonly Counted[]): Promise<void> {
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

  async #readBudgets(session: Session, book: Book, counted: readonly Counted[]): Promise<void> {
    const wanted = new Map<string, BudgetRow>();
    const source: CounterSource = {
      makersOf: (keyId) => this.#makers.get(keyId) ?? [],
      load: (row) => void wanted.set(nameOf(row.owner, row.ownerId, row.period, row.bucket), row),
    };
    for (const { keyId, accountId, timeMs } of counted) book.counters(keyId, accountId, timeMs, source);
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

  async #readRequests(session: Session, book: Book, owners: readonly OwnerColumns[]): Promise<void> {
    if (owners.length === 0) return;
    const ids = [...new Set(owners.map((owner) => owner.request_id))];
    for (const row of await session.rows<RequestColumns>(STATEMENTS.requests, [ids]))
      // Its counters were asked for when its owner was found.
      book.holds.add(toHold(row, book.counters(row.key_id, row.account_id, Number(row.create_time_ms))));
  }
}

function nameOf(...parts: readonly string[]): string {
  return parts.join(" ");
}

function requestIdsOf(operations: readonly LedgerOperation[]): string[] {
  return [...new Set(operations.flatMap((operation) => ("requestId" in operation ? [operation.requestId] : [])))];
}

function accountIdsOf(operations: readonly LedgerOperation[]): string[] {
  return operations.flatMap((operation) => {
    if (operation.kind === "settle") return operation.terms === undefined ? [] : [operation.terms.accountId];
    return "accountId" in operation ? [operation.accountId] : [];
  });
}

function countedOf(operations: readonly LedgerOperation[], requests: readonly OwnerColumns[]): Counted[] {
  const counted: Counted[] = requests.map((row) => ({
    keyId: row.key_id,
    accountId: row.account_id,
    timeMs: Number(row.create_time_ms),
  }));
  for (const operation of operations) {
    if (operation.kind === "hold")
      counted.push({ keyId: operation.keyId, accountId: operation.accountId, timeMs: operation.nowMs });
    else if (operation.kind === "settle" && operation.terms !== undefined)
      counted.push({ ...operation.terms, timeMs: operation.terms.createTimeMs });
  }
  return counted;
}

function mayHaveOrphans(nodes: Book, nodeId: string, operation: RecoverOperation): boolean {
  return nodeId === operation.nodeId ? operation.live !== undefined : isGone(nodes, nodeId, operation);
}

function orphansOf(session: Session, nodeId: string, operation: RecoverOperation): Promise<OwnerColumns[]> {
  const answeredFor = nodeId === operation.nodeId ? [...(operation.live ?? [])] : [];
  return session.rows<OwnerColumns>(STATEMENTS.orphans, [nodeId, answeredFor]);
}

/** Credits, refunds, debits and receivables, by the ids that operators gave them. */
async function readNamed(session: Session, book: Book, operations: readonly LedgerOperation[]): Promise<void> {
  const ids: string[] = [];
  for (const operation of operations) {
    if (operation.kind === "credit") ids.push(operation.creditId);
    else if (operation.kind === "refund") ids.push(operation.refundId);
    else if (operation.kind === "debit") ids.push(operation.debitId);
  }
  if (ids.length === 0) return;
  for (const row of await session.rows<TransferColumns>(STATEMENTS.named, [ids])) {
    const transfer = toTransfer(row);
    if (transfer.kind === "credit") book.credits.set(transfer.causeId, transfer);
    else book.addCorrection(transfer);
  }
}

async function readTotals(session: Session, book: Book): Promise<void> {
  for (const { kind, nanos } of await session.rows<{ kind: TotalKind; nanos: bigint }>(STATEMENTS.totals))
    book.totals[kind].nanos = nanos;
}

/** A recovery judges other nodes by their beats, so that none may beat meanwhile. */
async function readBeats(
  session: Session,
  book: Book,
  operations: readonly LedgerOperation[],
  locks: boolean,
): Promise<void> {
  const judges = operations.some(({ kind }) => kind === "recover");
  if (!judges && !operations.some(({ kind }) => kind === "beat")) return;
  const statement = judges && locks ? STATEMENTS.lockedBeats : STATEMENTS.beats;
  for (const { id, beats } of await session.rows<{ id: string; beats: bigint }>(statement))
    book.beats.set(id, Number(beats));
}

/** Taken once the accounts are locked, so that the places rise within each account. */
async function readPlace(session: Session, book: Book): Promise<void> {
  const [row] = await session.rows<{ block: bigint }>(STATEMENTS.block);
  book.head = { sequence: Number(row?.block ?? 0n) * BLOCK_SEQUENCES, hash: CHAIN_START.hash };
}
