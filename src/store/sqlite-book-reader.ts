/** Brings the rows that a batch needs from SQLite into a book. */
import { Book } from "../ledger/book.js";
import type { LedgerOperation, RecoverOperation } from "../ledger/operation.js";
import { firstReads, secondReads } from "../ledger/reads.js";
import { RECOVER_HOLDS_MAX } from "../ledger/recovery.js";
import { budgetName } from "../ledger/rows.js";
import { transferId } from "../ledger/transfer.js";
import { type AccountColumns, type HoldColumns, type TransferColumns, toHold, toTransfer } from "./sqlite-columns.js";
import type { Sqlite } from "./sqlite-file.js";

/** The open holds that are past their time, or of another node without a lease; the longest overdue first. */
const ORPHANS = `
SELECT * FROM hold WHERE state = 'held' AND (
  expire_time_ms < :nowMs OR (
    node_id <> :nodeId AND node_id NOT IN (SELECT id FROM node WHERE lease_until_ms >= :nowMs)
  )
) ORDER BY expire_time_ms LIMIT ${RECOVER_HOLDS_MAX}`;

export class BookReader {
  readonly #head;
  readonly #hold;
  readonly #transfer;
  readonly #leases;
  readonly #orphans;
  readonly #account;
  readonly #budget;

  constructor(database: Sqlite) {
    this.#head = database.prepare<[], Pick<TransferColumns, "sequence" | "hash">>(
      "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
    );
    this.#hold = database.prepare<[string], HoldColumns>("SELECT * FROM hold WHERE request_id = ?");
    this.#transfer = database.prepare<[string], TransferColumns>("SELECT * FROM transfer WHERE id = ?");
    this.#leases = database.prepare<[], { id: string; lease_until_ms: bigint }>("SELECT id, lease_until_ms FROM node");
    this.#orphans = database.prepare<[{ nowMs: number; nodeId: string }], HoldColumns>(ORPHANS);
    this.#account = database.prepare<[string], AccountColumns>(
      "SELECT id, debits_pending, debits_posted, credits_pending, credits_posted FROM account WHERE id = ?",
    );
    this.#budget = database.prepare<[string, string, string], { pending_nanos: bigint; spent_nanos: bigint }>(
      "SELECT pending_nanos, spent_nanos FROM budget WHERE key_id = ? AND period = ? AND bucket = ?",
    );
  }

  read(operations: readonly LedgerOperation[]): Book {
    const book = new Book();
    const head = this.#head.get();
    if (head !== undefined) book.head = { sequence: Number(head.sequence), hash: head.hash };
    const { requestIds, creditIds, recoveries } = firstReads(operations);
    for (const requestId of requestIds) {
      const row = this.#hold.get(requestId);
      if (row !== undefined) book.holds.set(requestId, toHold(row));
    }
    for (const creditId of creditIds) {
      const row = this.#transfer.get(transferId("credit", creditId));
      if (row !== undefined) book.credits.set(creditId, toTransfer(row));
    }
    if (recoveries.length > 0) this.#readOrphans(book, recoveries);
    this.#readRest(book, operations);
    return book;
  }

  #readOrphans(book: Book, recoveries: readonly RecoverOperation[]): void {
    for (const { id, lease_until_ms } of this.#leases.all()) book.leases.set(id, Number(lease_until_ms));
    for (const { nowMs, nodeId } of recoveries) {
      for (const row of this.#orphans.all({ nowMs, nodeId })) {
        if (!book.holds.has(row.request_id)) book.holds.set(row.request_id, toHold(row));
      }
    }
  }

  #readRest(book: Book, operations: readonly LedgerOperation[]): void {
    const { accountIds, budgets } = secondReads(operations, book);
    for (const id of accountIds) {
      const row = this.#account.get(id);
      if (row === undefined) continue;
      book.accounts.set(id, {
        id,
        debitsPending: row.debits_pending,
        debitsPosted: row.debits_posted,
        creditsPending: row.credits_pending,
        creditsPosted: row.credits_posted,
      });
    }
    for (const { keyId, period, bucket } of budgets.values()) {
      const row = this.#budget.get(keyId, period, bucket);
      if (row === undefined) continue;
      const counters = { pendingNanos: row.pending_nanos, spentNanos: row.spent_nanos };
      book.budgets.set(budgetName(keyId, period, bucket), { keyId, period, bucket, ...counters });
    }
  }
}
