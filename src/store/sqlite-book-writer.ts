/** Writes the changes of a book to SQLite. */
import assert from "node:assert";
import type { Book } from "../ledger/book.js";
import { type HoldRow, SOURCE_NONE, type UsageRow } from "../ledger/rows.js";
import type { Sqlite } from "./sqlite-file.js";
import { TOKEN_COLUMNS, placeholders, tokensOf } from "./token-columns.js";

const TOKENS = TOKEN_COLUMNS.join(", ");
const TOKENS_SET = TOKEN_COLUMNS.map((column) => `${column} = ?`).join(", ");
const TOKENS_ADDED = TOKEN_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");

const UPDATE_ACCOUNT = `UPDATE account
  SET debits_pending = ?, debits_posted = ?, credits_pending = ?, credits_posted = ? WHERE id = ?`;
const INSERT_TRANSFER = `INSERT INTO transfer (sequence, id, kind, debit_account, credit_account, account_id,
  pending_nanos, posted_nanos, request_id, create_time_ms, previous_hash, hash) VALUES (${placeholders(12)})`;
const INSERT_HOLD = `INSERT INTO hold (request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos,
  price, create_time_ms, expire_time_ms, state, recovered, end_time_ms, charged_nanos, overage_nanos, cost_nanos,
  upstream, attempts, ${TOKENS}) VALUES (${placeholders(27)})`;
const UPDATE_HOLD = `UPDATE hold SET state = ?, recovered = ?, end_time_ms = ?, charged_nanos = ?, overage_nanos = ?,
  cost_nanos = ?, upstream = ?, attempts = ?, ${TOKENS_SET} WHERE request_id = ?`;
const INSERT_USAGE = `INSERT INTO usage (request_id, account_id, key_id, model, day, upstream, attempts, usage_source,
  cost_nanos, end_time_ms, ${TOKENS}) VALUES (${placeholders(19)})`;
const ADD_USAGE_DAY = `INSERT INTO usage_day (day, account_id, key_id, model, request_count, cost_nanos, ${TOKENS})
  VALUES (${placeholders(15)}) ON CONFLICT DO UPDATE SET
  request_count = request_count + excluded.request_count,
  cost_nanos = cost_nanos + excluded.cost_nanos, ${TOKENS_ADDED}`;
const PUT_BUDGET = `INSERT INTO budget (key_id, period, bucket, pending_nanos, spent_nanos) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET pending_nanos = excluded.pending_nanos, spent_nanos = excluded.spent_nanos`;
const PUT_LEASE = `INSERT INTO node (id, lease_until_ms) VALUES (?, ?)
  ON CONFLICT DO UPDATE SET lease_until_ms = excluded.lease_until_ms`;

export class BookWriter {
  readonly #account;
  readonly #transfer;
  readonly #insertHold;
  readonly #updateHold;
  readonly #usage;
  readonly #usageDay;
  readonly #budget;
  readonly #lease;

  constructor(database: Sqlite) {
    this.#account = database.prepare(UPDATE_ACCOUNT);
    this.#transfer = database.prepare(INSERT_TRANSFER);
    this.#insertHold = database.prepare(INSERT_HOLD);
    this.#updateHold = database.prepare(UPDATE_HOLD);
    this.#usage = database.prepare(INSERT_USAGE);
    this.#usageDay = database.prepare(ADD_USAGE_DAY);
    this.#budget = database.prepare(PUT_BUDGET);
    this.#lease = database.prepare(PUT_LEASE);
  }

  write(book: Book): void {
    for (const account of book.changedAccounts) {
      const { id, debitsPending, debitsPosted, creditsPending, creditsPosted } = account;
      const { changes } = this.#account.run(debitsPending, debitsPosted, creditsPending, creditsPosted, id);
      assert(changes === 1, `the account ${id} is gone`);
    }
    this.#writeHolds(book);
    this.#writeTransfers(book);
    for (const usage of book.usages) this.#writeUsage(usage);
    for (const row of book.changedBudgets)
      this.#budget.run(row.keyId, row.period, row.bucket, row.pendingNanos, row.spentNanos);
    for (const [nodeId, untilMs] of book.changedLeases) this.#lease.run(nodeId, untilMs);
  }

  #writeHolds(book: Book): void {
    for (const hold of book.createdHolds) {
      const { requestId, accountId, keyId, model, nodeId, wantedNanos, amountNanos, price } = hold;
      const fixed = [requestId, accountId, keyId, model, nodeId, wantedNanos, amountNanos, price];
      this.#insertHold.run(...fixed, hold.createTimeMs, hold.expireTimeMs, ...holdChanges(hold));
    }
    for (const hold of book.changedHolds) {
      const { changes } = this.#updateHold.run(...holdChanges(hold), hold.requestId);
      assert(changes === 1, `the hold ${hold.requestId} is gone`);
    }
  }

  #writeTransfers(book: Book): void {
    for (const transfer of book.transfers) {
      this.#transfer.run(
        transfer.sequence,
        transfer.id,
        transfer.kind,
        transfer.debitAccount,
        transfer.creditAccount,
        transfer.accountId,
        transfer.pendingNanos,
        transfer.postedNanos,
        transfer.requestId,
        transfer.createTimeMs,
        transfer.previousHash,
        transfer.hash,
      );
    }
  }

  #writeUsage(row: UsageRow): void {
    const { requestId, accountId, keyId, model, day, upstream, attempts, usageSource, costNanos } = row;
    const who = [requestId, accountId, keyId, model, day, upstream, attempts];
    this.#usage.run(...who, usageSource, costNanos, row.endTimeMs, ...tokensOf(row.usage));
    // A request that generated nothing is kept, but it is not counted as used.
    if (usageSource === SOURCE_NONE) return;
    this.#usageDay.run(day, accountId, keyId, model, 1, costNanos, ...tokensOf(row.usage));
  }
}

function holdChanges(hold: HoldRow): unknown[] {
  return [
    hold.state,
    hold.recovered ? 1 : 0,
    hold.endTimeMs,
    hold.chargedNanos,
    hold.overageNanos,
    hold.costNanos,
    hold.upstream,
    hold.attempts,
    ...tokensOf(hold.usage),
  ];
}
