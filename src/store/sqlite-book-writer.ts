/** Writes the changes of a book to SQLite. */
import assert from "node:assert";
import type { Book } from "../ledger/book.js";
import {
  ACCOUNT_PERIODS,
  type BudgetRow,
  type HoldRow,
  KEY_PERIODS,
  type Note,
  type UsageDay,
  type UsageRow,
} from "../ledger/rows.js";
import type { Transfer } from "../ledger/transfer.js";
import { digestOf } from "./digest.js";
import type { Sqlite } from "./sqlite-binding.js";
import { TOKEN_COLUMNS, placeholders, tokensOf } from "./token-columns.js";

const TOKENS = TOKEN_COLUMNS.join(", ");
const TOKENS_ADDED = TOKEN_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");

const TRANSFER =
  "sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash";

/** How many counters a hold has. Those of one key stand together and change together. */
const HOLD_BUDGETS = KEY_PERIODS.length + ACCOUNT_PERIODS.length;
const BUDGET_VALUES = 6;

/** Writes so many counters at once. */
function budgets(count: number): string {
  const rows = Array.from({ length: count }, () => `(${placeholders(BUDGET_VALUES)})`);
  return `INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ${rows.join(", ")}
    ON CONFLICT DO UPDATE SET pending_nanos = excluded.pending_nanos, spent_nanos = excluded.spent_nanos`;
}

/** The statements of a commit, by what they write. */
export const STATEMENTS = {
  account: `UPDATE account
    SET debits_pending = ?, debits_posted = ?, credits_pending = ?, credits_posted = ? WHERE id = ?`,
  transfer: `INSERT INTO transfer (${TRANSFER}) VALUES (${placeholders(9)})`,
  noted: `INSERT INTO transfer (${TRANSFER}, reason, actor) VALUES (${placeholders(11)})`,
  hold: `INSERT INTO transfer (${TRANSFER}, request_id, key_id, model, node_id, wanted_nanos, price, expire_time_ms)
    VALUES (${placeholders(16)})`,
  usage: `INSERT INTO transfer (${TRANSFER}, usage_source, overage_nanos, operator_cost_nanos, upstream, attempts,
    ${TOKENS}, attempt_log) VALUES (${placeholders(24)})`,
  openHold: "INSERT INTO open_hold (hold_sequence, node_id, expire_time_ms) VALUES (?, ?, ?)",
  closeHold: "DELETE FROM open_hold WHERE hold_sequence = ?",
  checkpoint: `INSERT OR REPLACE INTO checkpoint (hold_sequence, cost_nanos, operator_cost_nanos, upstream, attempts,
    digest, ${TOKENS}) VALUES (${placeholders(15)})`,
  dropCheckpoint: "DELETE FROM checkpoint WHERE hold_sequence = ?",
  release: "INSERT INTO release (hold_sequence, sequence, kind, end_time_ms) VALUES (?, ?, ?, ?)",
  usageDay: `INSERT INTO usage_day (day, account_id, key_id, model, request_count, cost_nanos, refunded_nanos,
    operator_cost_nanos, margin_nanos, ${TOKENS}) VALUES (${placeholders(18)})
    ON CONFLICT DO UPDATE SET request_count = request_count + excluded.request_count,
    cost_nanos = cost_nanos + excluded.cost_nanos, refunded_nanos = refunded_nanos + excluded.refunded_nanos,
    operator_cost_nanos = operator_cost_nanos + excluded.operator_cost_nanos,
    margin_nanos = margin_nanos + excluded.margin_nanos,
    ${TOKENS_ADDED}`,
  budget: budgets(1),
  holdBudgets: budgets(HOLD_BUDGETS),
  beats: `INSERT INTO node (id, beats) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET beats = excluded.beats`,
  endNode: "DELETE FROM node WHERE id = ?",
} as const;

type Name = keyof typeof STATEMENTS;

export class BookWriter {
  readonly #statements;
  /** For one hash after the other: SQLite copies what it is given. */
  readonly #hash = Buffer.alloc(32);

  constructor(database: Sqlite) {
    const prepare = (name: Name) => database.prepare(STATEMENTS[name]);
    this.#statements = {
      account: prepare("account"),
      transfer: prepare("transfer"),
      noted: prepare("noted"),
      hold: prepare("hold"),
      openHold: prepare("openHold"),
      closeHold: prepare("closeHold"),
      checkpoint: prepare("checkpoint"),
      dropCheckpoint: prepare("dropCheckpoint"),
      usage: prepare("usage"),
      release: prepare("release"),
      usageDay: prepare("usageDay"),
      budget: prepare("budget"),
      holdBudgets: prepare("holdBudgets"),
      beats: prepare("beats"),
      endNode: prepare("endNode"),
    };
  }

  write(book: Book): void {
    const { account, beats, endNode } = this.#statements;
    this.#writeTransfers(book);
    this.#writeHolds(book);
    for (const sums of book.usageDays) this.#addDay(sums);
    for (const { id, debitsPending, debitsPosted, creditsPending, creditsPosted } of book.changedAccounts) {
      const { changes } = account.run(debitsPending, debitsPosted, creditsPending, creditsPosted, id);
      assert(changes === 1, `the account ${id} is gone`);
    }
    this.#writeBudgets(book.changedBudgets);
    for (const [nodeId, count] of book.changedBeats) {
      if (count === undefined) endNode.run(nodeId);
      else beats.run(nodeId, count);
    }
  }

  /** Each with the record that its hash proves: its hold, or the usage of the request that it ended. */
  #writeTransfers({ transfers, createdHolds, usages, notes }: Book): void {
    let [holds, ends, noted] = [0, 0, 0];
    for (const row of transfers) {
      const hold = createdHolds[holds];
      const usage = usages[ends];
      if (hold?.sequence === row.sequence) {
        holds += 1;
        this.#writeHold(row, hold);
      } else if (usage?.sequence === row.sequence) {
        ends += 1;
        this.#writeUsage(row, usage);
      } else this.#writeTransfer(row, notes[noted]?.sequence === row.sequence ? notes[noted++] : undefined);
    }
    const written = holds === createdHolds.length && ends === usages.length && noted === notes.length;
    assert(written, "a record has no transfer");
  }

  #writeBudgets(rows: Iterable<BudgetRow>): void {
    const { budget, holdBudgets } = this.#statements;
    const values: (string | bigint)[] = [];
    for (const row of rows) {
      values.push(row.owner, row.ownerId, row.period, row.bucket, row.pendingNanos, row.spentNanos);
      if (values.length === HOLD_BUDGETS * BUDGET_VALUES) holdBudgets.run(...values.splice(0));
    }
    while (values.length > 0) budget.run(...values.splice(0, BUDGET_VALUES));
  }

  #bytesOf(hash: string): Buffer {
    this.#hash.write(hash, "hex");
    return this.#hash;
  }

  #writeTransfer(row: Transfer, note: Note | undefined): void {
    const values = [
      row.sequence,
      row.kind,
      row.accountId,
      row.holdSequence,
      row.kind === "credit" || note !== undefined ? row.causeId : null,
      row.pendingNanos,
      row.postedNanos,
      row.createTimeMs,
      this.#bytesOf(row.hash),
    ];
    if (note === undefined) this.#statements.transfer.run(...values);
    else this.#statements.noted.run(...values, note.reason, note.actor);
  }

  #writeHold(row: Transfer, hold: HoldRow): void {
    this.#statements.hold.run(
      row.sequence,
      row.kind,
      row.accountId,
      row.holdSequence,
      null,
      row.pendingNanos,
      row.postedNanos,
      row.createTimeMs,
      this.#bytesOf(row.hash),
      hold.requestId,
      hold.keyId,
      hold.model,
      hold.nodeId,
      hold.wantedNanos,
      hold.price,
      hold.expireTimeMs,
    );
  }

  #writeUsage(row: Transfer, record: UsageRow): void {
    const { usageSource, overageNanos, operatorCostNanos, upstream, attempts, usage, attemptLog } = record;
    this.#statements.usage.run(
      row.sequence,
      row.kind,
      row.accountId,
      row.holdSequence,
      null,
      row.pendingNanos,
      row.postedNanos,
      row.createTimeMs,
      this.#bytesOf(row.hash),
      usageSource,
      overageNanos,
      operatorCostNanos ?? null,
      upstream,
      attempts,
      usage.inputTokens,
      usage.cacheReadTokens,
      usage.cacheWriteTokens,
      usage.cacheWrite1hTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      usage.imageTokens,
      usage.audioInputTokens,
      usage.audioOutputTokens,
      attemptLog,
    );
  }

  #writeHolds(book: Book): void {
    const { openHold, closeHold, dropCheckpoint, release } = this.#statements;
    const firstSequence = book.transfers[0]?.sequence ?? Infinity;
    for (const row of book.createdHolds) {
      // One that was opened and ended in the same batch was never open for anybody else.
      if (row.state === "held") openHold.run(row.sequence, row.nodeId, row.expireTimeMs);
    }
    for (const row of book.closedHolds) {
      if (row.sequence >= firstSequence) continue;
      const { changes } = closeHold.run(row.sequence);
      assert(changes === 1, `the hold ${row.requestId} was not open`);
      if (row.noted) dropCheckpoint.run(row.sequence);
    }
    for (const row of book.notedHolds) if (row.state === "held") this.#writeCheckpoint(row);
    for (const { hold: freed, sequence, kind, endTimeMs } of book.releases)
      release.run(freed.sequence, sequence, kind, endTimeMs);
  }

  #writeCheckpoint({ sequence, costNanos, operatorCostNanos, upstream, attempts, usage }: HoldRow): void {
    const tokens = tokensOf(usage);
    const known = operatorCostNanos === undefined ? [] : [operatorCostNanos];
    const digest = digestOf(sequence, costNanos, upstream, attempts, ...tokens, ...known);
    const [cost = null] = known;
    this.#statements.checkpoint.run(sequence, costNanos, cost, upstream, attempts, digest, ...tokens);
  }

  #addDay(row: UsageDay): void {
    const { day, accountId, keyId, model, requestCount, costNanos, refundedNanos } = row;
    const { operatorCostNanos, marginNanos, usage } = row;
    const sums = [requestCount, costNanos, refundedNanos, operatorCostNanos, marginNanos, ...tokensOf(usage)];
    this.#statements.usageDay.run(day, accountId, keyId, model, ...sums);
  }
}
