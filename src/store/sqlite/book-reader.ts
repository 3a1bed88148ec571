/** Brings the rows that a batch needs, and that are not there yet, from SQLite into a book. */
import { Book, type CounterSource } from "../../ledger/book.js";
import type { CorrectionKind } from "../../ledger/transfer.js";
import type { HoldOperation, LedgerOperation, RecoverOperation } from "../../ledger/operation.js";
import { isGone, RECOVER_HOLDS_MAX } from "../../ledger/recovery.js";
import { judgedCounters, mayBeArchived } from "../../ledger/state.js";
import type { BudgetRow, TotalKind } from "../../ledger/rows.js";
import { ARCHIVED_UNTIL, type LeaseColumns, toBookAccount, toLease } from "../book-rows.js";
import { hexOf } from "../digest.js";
import {
  type AccountColumns,
  REQUESTS,
  type RequestColumns,
  TRANSFERS,
  type TransferColumns,
  toHold,
  toTransfer,
} from "../columns.js";
import type { Sqlite } from "./binding.js";

/**
 * The open holds of a node, the oldest first. They are few, and CROSS JOIN makes SQLite begin with them: by itself it
 * would begin with every hold that ever was.
 */
const OPEN_HOLDS = `
SELECT request_id FROM open_hold CROSS JOIN hold ON hold.sequence = hold_sequence
WHERE open_hold.node_id = ? ORDER BY hold_sequence`;

/** Keys make each other no longer lines than these; a longer one is not ours. */
const MAKERS_MAX = 8;

interface CounterColumns {
  readonly pending_nanos: bigint;
  readonly spent_nanos: bigint;
}

export class BookReader {
  readonly #head;
  readonly #newestRequest;
  readonly #request;
  readonly #named;
  readonly #totals;
  readonly #beats;
  readonly #holders;
  readonly #openHolds;
  readonly #account;
  readonly #budget;
  readonly #maker;
  readonly #leases;
  readonly #archived;

  constructor(database: Sqlite) {
    this.#head = database.prepare<[], Pick<TransferColumns, "sequence" | "hash">>(
      "SELECT sequence, hash FROM transfer ORDER BY sequence DESC LIMIT 1",
    );
    this.#newestRequest = database
      .prepare<[], string | null>("SELECT max(request_id) FROM transfer WHERE request_id IS NOT NULL")
      .pluck();
    this.#request = database.prepare<[string], RequestColumns>(`${REQUESTS} WHERE hold.request_id = ?`);
    this.#named = database.prepare<[string, string], TransferColumns>(
      `${TRANSFERS} WHERE credit_id = ? AND transfer.kind = ?`,
    );
    this.#totals = database.prepare<[], { kind: TotalKind; nanos: bigint }>(
      "SELECT kind, SUM(nanos) AS nanos FROM operator_total GROUP BY kind",
    );
    this.#beats = database.prepare<[], { id: string; beats: bigint }>("SELECT id, beats FROM node");
    this.#holders = database.prepare<[], string>("SELECT DISTINCT node_id FROM open_hold").pluck();
    this.#openHolds = database.prepare<[string], string>(OPEN_HOLDS).pluck();
    this.#maker = database.prepare<[string], string | null>("SELECT maker_id FROM key WHERE id = ?").pluck();
    this.#leases = database.prepare<[], LeaseColumns>("SELECT * FROM lease");
    this.#archived = database.prepare<[], bigint | null>(ARCHIVED_UNTIL).pluck();
    this.#account = database.prepare<[string], AccountColumns>("SELECT * FROM account WHERE id = ?");
    this.#budget = database.prepare<[string, string, string, string], CounterColumns>(
      "SELECT pending_nanos, spent_nanos FROM budget WHERE owner = ? AND owner_id = ? AND period = ? AND bucket = ?",
    );
  }

  /** A book that stands where the database does, with nothing in it but totals, nodes and leases. */
  start(): Book {
    const book = new Book();
    const head = this.#head.get();
    if (head !== undefined) book.head = { sequence: Number(head.sequence), hash: hexOf(head.hash) };
    book.newestRequestId = this.#newestRequest.get() ?? "";
    for (const { id, beats } of this.#beats.all()) book.beats.set(id, Number(beats));
    for (const { kind, nanos } of this.#totals.all()) book.totals[kind].nanos = nanos;
    for (const row of this.#leases.all()) this.#readLease(book, row);
    return book;
  }

  read(book: Book, operations: readonly LedgerOperation[]): void {
    for (const operation of operations) {
      switch (operation.kind) {
        case "hold":
          // The database has no request with a greater id than its greatest: nothing to look for.
          if (operation.requestId <= book.newestRequestId) this.#readRequest(book, operation.requestId);
          this.#readJudged(book, operation);
          break;
        case "reserve":
          this.#readNamed(book, operation.jobId, "lease");
          this.#readJudged(book, operation);
          break;
        case "lease":
          this.#readJudged(book, operation);
          break;
        case "renew":
          this.#readAccount(book, operation.accountId);
          break;
        case "settle":
          this.#readRequest(book, operation.requestId);
          if (operation.terms !== undefined) {
            this.#readJudged(book, { ...operation.terms, nowMs: operation.terms.createTimeMs });
          }
          break;
        case "checkpoint":
          this.#readRequest(book, operation.requestId);
          break;
        case "credit":
          this.#readAccount(book, operation.accountId);
          this.#readCredit(book, operation.creditId);
          break;
        case "refund":
          this.#readRequest(book, operation.requestId);
          this.#readNamed(book, operation.refundId, "refund");
          break;
        case "debit":
          this.#readAccount(book, operation.accountId);
          this.#readNamed(book, operation.debitId, "debit");
          this.#readNamed(book, operation.debitId, "receivable");
          break;
        case "recover":
          this.#readOrphans(book, operation);
          break;
        // Nodes and leases are in every book.
        case "return":
        case "recall":
        case "beat":
          break;
        default:
          operation satisfies never;
      }
    }
    if (mayBeArchived(book, operations)) book.archivedUntilMs = Number(this.#archived.get() ?? 0n);
  }

  #readLease(book: Book, row: LeaseColumns): void {
    const counters = this.#readOwners(book, row.account_id, row.key_id, Number(row.create_time_ms));
    book.leases.set(row.id, toLease(row, counters));
  }

  #readRequest(book: Book, requestId: string): void {
    if (book.holds.get(requestId) !== undefined) return;
    const row = this.#request.get(requestId);
    if (row === undefined) return;
    const hold = toHold(row, this.#readOwners(book, row.account_id, row.key_id, Number(row.create_time_ms)));
    book.holds.add(hold);
    if (hold.state !== "held") book.pastHolds.push(hold);
  }

  /** At most as many as one recovery resolves. */
  #readOrphans(book: Book, operation: RecoverOperation): void {
    const { nodeId: self, live } = operation;
    let left = RECOVER_HOLDS_MAX;
    for (const nodeId of this.#holders.all()) {
      if (nodeId === self ? live === undefined : !isGone(book, nodeId, operation)) continue;
      for (const requestId of this.#openHolds.all(nodeId)) {
        if (nodeId === self && live?.has(requestId) === true) continue;
        if (left === 0) return;
        left -= 1;
        this.#readRequest(book, requestId);
      }
    }
  }

  #readCredit(book: Book, creditId: string): void {
    const row = this.#named.get(creditId, "credit");
    if (row !== undefined) book.credits.set(creditId, toTransfer(row));
  }

  #readNamed(book: Book, id: string, kind: CorrectionKind | "lease"): void {
    const row = this.#named.get(id, kind);
    if (row !== undefined) book.addNamed(toTransfer(row));
  }

  /** The account, and the counters of the key, its makers and the account for that time. */
  #readOwners(book: Book, accountId: string, keyId: string, timeMs: number): readonly BudgetRow[] {
    this.#readAccount(book, accountId);
    return book.counters(keyId, accountId, timeMs, this.#counters);
  }

  /** The same with the other counters by which the operation is judged. */
  #readJudged(book: Book, asker: Pick<HoldOperation, "accountId" | "keyId" | "budgets" | "nowMs">): void {
    const counters = this.#readOwners(book, asker.accountId, asker.keyId, asker.nowMs);
    const account = book.accounts.get(asker.accountId);
    if (account !== undefined) judgedCounters(book, counters, asker, account, this.#counters);
  }

  readonly #counters: CounterSource = {
    makersOf: (keyId) => {
      const makerIds: string[] = [];
      let makerId = this.#maker.get(keyId);
      while (typeof makerId === "string" && makerIds.length < MAKERS_MAX) {
        makerIds.push(makerId);
        makerId = this.#maker.get(makerId);
      }
      return makerIds;
    },
    load: (row) => {
      const found = this.#budget.get(row.owner, row.ownerId, row.period, row.bucket);
      if (found === undefined) return;
      row.pendingNanos = found.pending_nanos;
      row.spentNanos = found.spent_nanos;
    },
  };

  #readAccount(book: Book, id: string): void {
    if (book.accounts.has(id)) return;
    const row = this.#account.get(id);
    if (row === undefined) return;
    book.accounts.set(id, toBookAccount(row));
  }
}
