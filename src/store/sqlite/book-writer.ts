/** Writes the changes of a book to SQLite. */
import assert from "node:assert";
import type { Book } from "../../ledger/book.js";
import {
  ACCOUNT_PERIODS,
  type BudgetRow,
  type HoldRow,
  KEY_PERIODS,
  type MoneyLeaseRow,
  type Note,
  type UsageDay,
  type UsageRow,
} from "../../ledger/rows.js";
import type { Transfer } from "../../ledger/transfer.js";
import { checkpointDigest } from "../book-rows.js";
import type { Sqlite, Statement } from "./binding.js";
import { metersValue, TOKEN_COLUMNS, placeholders, tokensOf } from "../token-columns.js";

const TOKENS = TOKEN_COLUMNS.join(", ");
const TOKENS_ADDED = TOKEN_COLUMNS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ");

/** What every transfer has. Those that something else than a request caused name it in `credit_id`. */
const TRANSFER = `sequence, kind, account_id, account_sequence, hold_sequence, pending_nanos, posted_nanos,
  create_time_ms, hash`;

/** How many counters a hold has. Those of one key stand together and change together. */
const HOLD_BUDGETS = KEY_PERIODS.length + ACCOUNT_PERIODS.length;
const BUDGET_VALUES = 6;
const HASH_BYTES = 32;

/** How many open holds one statement writes or removes where there are so many. */
const HOLDS_AT_ONCE = 8;
const OPEN_HOLD_VALUES = 3;
/** How many transfers of one kind one statement writes where there are so many. */
const TRANSFERS_AT_ONCE = 8;
const HOLD_VALUES = 17;
const USAGE_VALUES = 25;

/** The values of so many rows. */
function rowsOf(count: number, valuesEach: number): string {
  return Array.from({ length: count }, () => `(${placeholders(valuesEach)})`).join(", ");
}

function openHolds(count: number): string {
  return `INSERT INTO open_hold (hold_sequence, node_id, expire_time_ms) VALUES ${rowsOf(count, OPEN_HOLD_VALUES)}`;
}

/** Writes so many counters at once. */
function budgets(count: number): string {
  return `INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos)
    VALUES ${rowsOf(count, BUDGET_VALUES)}
    ON CONFLICT DO UPDATE SET pending_nanos = excluded.pending_nanos, spent_nanos = excluded.spent_nanos`;
}

function holds(count: number): string {
  return `INSERT INTO transfer (${TRANSFER}, request_id, key_id, model, node_id, wanted_nanos, price,
    expire_time_ms, lease_id) VALUES ${rowsOf(count, HOLD_VALUES)}`;
}

function usages(count: number): string {
  return `INSERT INTO transfer (${TRANSFER}, usage_source, overage_nanos, operator_cost_nanos, upstream,
    attempts, ${TOKENS}, attempt_log, meters) VALUES ${rowsOf(count, USAGE_VALUES)}`;
}

/** The statements of a commit, by what they write. */
const STATEMENTS = {
  account: `UPDATE account SET debits_pending = ?, debits_posted = ?, credits_posted = ?, debited_nanos = ?, short = ?,
    chain_sequence = ?, chain_hash = ? WHERE id = ?`,
  line: `UPDATE account
         SET line_start_day = ?, line_amount_nanos = ?, line_spent_nanos = ?, line_used_up_nanos = ? WHERE id = ?`,
  total: `INSERT INTO operator_total (kind, shard, nanos) VALUES (?, 0, ?)
    ON CONFLICT DO UPDATE SET nanos = nanos + excluded.nanos`,
  transfer: `INSERT INTO transfer (${TRANSFER}, credit_id) VALUES (${placeholders(10)})`,
  noted: `INSERT INTO transfer (${TRANSFER}, credit_id, reason, actor) VALUES (${placeholders(12)})`,
  hold: holds(1),
  holds: holds(TRANSFERS_AT_ONCE),
  lease: `INSERT INTO transfer (${TRANSFER}, credit_id, node_id, key_id) VALUES (${placeholders(12)})`,
  leaseRow: `INSERT INTO lease (id, node_id, account_id, key_id, create_time_ms, rest_nanos, recalled)
    VALUES (${placeholders(7)}) 
    ON CONFLICT DO UPDATE SET rest_nanos = excluded.rest_nanos, recalled = excluded.recalled`,
  endLease: "DELETE FROM lease WHERE id = ?",
  usage: usages(1),
  usages: usages(TRANSFERS_AT_ONCE),
  openHold: openHolds(1),
  openHolds: openHolds(HOLDS_AT_ONCE),
  closeHold: "DELETE FROM open_hold WHERE hold_sequence = ?",
  closeHolds: `DELETE FROM open_hold WHERE hold_sequence IN (${placeholders(HOLDS_AT_ONCE)})`,
  checkpoint: `INSERT OR REPLACE INTO checkpoint (hold_sequence, cost_nanos, operator_cost_nanos, upstream, attempts,
    digest, ${TOKENS}, meters) VALUES (${placeholders(16)})`,
  dropCheckpoint: "DELETE FROM checkpoint WHERE hold_sequence = ?",
  release: "INSERT INTO release (hold_sequence, sequence, kind, end_time_ms) VALUES (?, ?, ?, ?)",
  usageDay: `INSERT INTO usage_day (day, account_id, key_id, model, request_count, cost_nanos, refunded_nanos,
    operator_cost_nanos, margin_nanos, ${TOKENS}) VALUES (${placeholders(18)})
    ON CONFLICT DO UPDATE SET request_count = request_count + excluded.request_count,
    cost_nanos = cost_nanos + excluded.cost_nanos, refunded_nanos = refunded_nanos + excluded.refunded_nanos,
    operator_cost_nanos = operator_cost_nanos + excluded.operator_cost_nanos,
    margin_nanos = margin_nanos + excluded.margin_nanos,
    ${TOKENS_ADDED}`,
  usageDayMeter: `INSERT INTO usage_day_meter (day, account_id, key_id, model, unit, variant, quantity)
    VALUES (${placeholders(7)}) ON CONFLICT DO UPDATE SET quantity = quantity + excluded.quantity`,
  budget: budgets(1),
  holdBudgets: budgets(HOLD_BUDGETS),
  beats: `INSERT INTO node (id, beats) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET beats = excluded.beats`,
  endNode: "DELETE FROM node WHERE id = ?",
} as const;

type Name = keyof typeof STATEMENTS;

export class BookWriter {
  readonly #statements;
  readonly #openHolds: RowStatements;
  readonly #closedHolds: RowStatements;
  readonly #budgets: RowStatements;
  readonly #holds: RowStatements;
  readonly #usages: RowStatements;
  /** For one hash after the other: SQLite copies what it is given. */
  readonly #hash = Buffer.alloc(HASH_BYTES);
  /** For those of a statement of many rows. */
  readonly #holdHashes = hashesOf(TRANSFERS_AT_ONCE);
  readonly #usageHashes = hashesOf(TRANSFERS_AT_ONCE);

  constructor(database: Sqlite) {
    const prepare = (name: Name) => database.prepare(STATEMENTS[name]);
    this.#statements = {
      account: prepare("account"),
      line: prepare("line"),
      total: prepare("total"),
      transfer: prepare("transfer"),
      noted: prepare("noted"),
      lease: prepare("lease"),
      leaseRow: prepare("leaseRow"),
      endLease: prepare("endLease"),
      changes: database.prepare<[], bigint>("SELECT total_changes()").pluck(),
      checkpoint: prepare("checkpoint"),
      dropCheckpoint: prepare("dropCheckpoint"),
      release: prepare("release"),
      usageDay: prepare("usageDay"),
      usageDayMeter: prepare("usageDayMeter"),
      beats: prepare("beats"),
      endNode: prepare("endNode"),
    };
    const rows = (one: Name, many: Name, valuesEach: number, atOnce: number): RowStatements => {
      return { one: prepare(one), many: prepare(many), valuesEach, atOnce };
    };
    this.#openHolds = rows("openHold", "openHolds", OPEN_HOLD_VALUES, HOLDS_AT_ONCE);
    this.#closedHolds = rows("closeHold", "closeHolds", 1, HOLDS_AT_ONCE);
    this.#budgets = rows("budget", "holdBudgets", BUDGET_VALUES, HOLD_BUDGETS);
    this.#holds = rows("hold", "holds", HOLD_VALUES, TRANSFERS_AT_ONCE);
    this.#usages = rows("usage", "usages", USAGE_VALUES, TRANSFERS_AT_ONCE);
  }

  write(book: Book): void {
    const { beats, endNode, line, total } = this.#statements;
    this.#writeTransfers(book);
    this.#writeHolds(book);
    this.#writeLeases(book);
    for (const sums of book.usageDays) this.#addDay(sums);
    this.#writeKnown(book);
    for (const { id, lineGrant } of book.renewedLines) {
      if (lineGrant === undefined) continue;
      const { startDay, amountNanos, spentNanos, usedUpNanos } = lineGrant;
      line.write(startDay, amountNanos, spentNanos, usedUpNanos, id);
    }
    this.#writeBudgets(book.changedBudgets);
    for (const { kind, addedNanos } of Object.values(book.totals)) if (addedNanos > 0n) total.write(kind, addedNanos);
    for (const [nodeId, count] of book.changedBeats) {
      if (count === undefined) endNode.write(nodeId);
      else beats.write(nodeId, count);
    }
  }

  /** Changes rows that the book knows: each must be there. They are counted together, which costs less than each. */
  #writeKnown(book: Book): void {
    const { account, changes, dropCheckpoint } = this.#statements;
    const firstSequence = book.transfers[0]?.sequence ?? Infinity;
    const before = changes.get() ?? 0n;
    // One that was opened and ended in the same batch was never open for anybody else.
    const closed = book.closedHolds.filter(({ sequence }) => sequence < firstSequence);
    let count = BigInt(closed.length);
    writeRows(
      closed.map(({ sequence }) => sequence),
      this.#closedHolds,
    );
    for (const row of book.changedAccounts) {
      const { debitsPending, debitsPosted, creditsPosted, debitedNanos, chainSequence } = row;
      const hash = this.#bytesOf(row.chainHash);
      const sums = [debitsPending, debitsPosted, creditsPosted, debitedNanos] as const;
      account.write(...sums, Number(row.short), chainSequence, hash, row.id);
      count += 1n;
    }
    assert((changes.get() ?? 0n) - before === count, "a hold that was open or an account is gone");
    for (const { noted, sequence } of closed) if (noted) dropCheckpoint.write(sequence);
  }

  /**
   * Each with the record that its hash proves: its hold, or the usage of the request that it ended. Those of one kind
   * are written together, so not in the order of their numbers: nothing but the commit is seen by anybody.
   */
  #writeTransfers({ transfers, createdHolds, usages, notes, leaseMoves }: Book): void {
    let [held, ended, noted, moves] = [0, 0, 0, 0];
    const [holdRows, usageRows]: [unknown[], unknown[]] = [[], []];
    for (const row of transfers) {
      const hold = createdHolds[held];
      const usage = usages[ended];
      if (hold?.sequence === row.sequence) {
        addHold(holdRows, row, hold, hashIn(this.#holdHashes, held++, row.hash));
        if (held % TRANSFERS_AT_ONCE === 0) writeRows(holdRows, this.#holds);
      } else if (usage?.sequence === row.sequence) {
        addUsage(usageRows, row, usage, hashIn(this.#usageHashes, ended++, row.hash));
        if (ended % TRANSFERS_AT_ONCE === 0) writeRows(usageRows, this.#usages);
      } else if (leaseMoves[moves]?.sequence === row.sequence) {
        this.#writeLease(row, leaseMoves[moves++]?.lease);
      } else this.#writeTransfer(row, notes[noted]?.sequence === row.sequence ? notes[noted++] : undefined);
    }
    writeRows(holdRows, this.#holds);
    writeRows(usageRows, this.#usages);
    const written = held === createdHolds.length && ended === usages.length && noted === notes.length;
    assert(written && moves === leaseMoves.length, "a record has no transfer");
  }

  #writeBudgets(rows: Iterable<BudgetRow>): void {
    const values: unknown[] = [];
    for (const row of rows)
      values.push(row.owner, row.ownerId, row.period, row.bucket, row.pendingNanos, row.spentNanos);
    writeRows(values, this.#budgets);
  }

  #bytesOf(hash: string): Buffer {
    this.#hash.write(hash, "hex");
    return this.#hash;
  }

  #writeTransfer(row: Transfer, note: Note | undefined): void {
    const values: unknown[] = [];
    addTransfer(values, row, this.#bytesOf(row.hash));
    values.push(row.kind === "credit" || note !== undefined ? row.causeId : null);
    if (note === undefined) this.#statements.transfer.write(...values);
    else this.#statements.noted.write(...values, note.reason, note.actor);
  }

  #writeLease(row: Transfer, lease: Pick<MoneyLeaseRow, "nodeId" | "keyId"> | undefined): void {
    const values: unknown[] = [];
    addTransfer(values, row, this.#bytesOf(row.hash));
    this.#statements.lease.write(...values, row.causeId, lease?.nodeId, lease?.keyId);
  }

  #writeLeases({ changedLeases, endedLeases }: Book): void {
    const { leaseRow, endLease } = this.#statements;
    for (const { id, nodeId, accountId, keyId, createTimeMs, restNanos, recalled } of changedLeases)
      leaseRow.write(id, nodeId, accountId, keyId, createTimeMs, restNanos, Number(recalled));
    for (const { id } of endedLeases) endLease.write(id);
  }

  #writeHolds(book: Book): void {
    const { release } = this.#statements;
    const open: unknown[] = [];
    for (const { state, sequence, nodeId, expireTimeMs } of book.createdHolds)
      if (state === "held") open.push(sequence, nodeId, expireTimeMs);
    writeRows(open, this.#openHolds);
    for (const row of book.notedHolds) if (row.state === "held") this.#writeCheckpoint(row);
    for (const { hold: freed, sequence, kind, endTimeMs } of book.releases)
      release.write(freed.sequence, sequence, kind, endTimeMs);
  }

  #writeCheckpoint(hold: HoldRow): void {
    const { sequence, costNanos, operatorCostNanos = null, upstream, attempts, usage } = hold;
    const values = [sequence, costNanos, operatorCostNanos, upstream, attempts, checkpointDigest(hold)];
    this.#statements.checkpoint.write(...values, ...tokensOf(usage), metersValue(usage));
  }

  #addDay(row: UsageDay): void {
    const { day, accountId, keyId, model, requestCount, costNanos, refundedNanos } = row;
    const { operatorCostNanos, marginNanos, usage } = row;
    const sums = [requestCount, costNanos, refundedNanos, operatorCostNanos, marginNanos, ...tokensOf(usage)];
    this.#statements.usageDay.write(day, accountId, keyId, model, ...sums);
    for (const { unit, variant, quantity } of usage.meters)
      this.#statements.usageDayMeter.write(day, accountId, keyId, model, unit, variant, quantity);
  }
}

function hashesOf(count: number): readonly Buffer[] {
  return Array.from({ length: count }, () => Buffer.alloc(HASH_BYTES));
}

/** The hash as bytes, in the next of those that take turns. */
function hashIn(hashes: readonly Buffer[], index: number, hash: string): Buffer {
  const bytes = hashes[index % hashes.length];
  assert(bytes !== undefined, "no room for hashes");
  bytes.write(hash, "hex");
  return bytes;
}

/** What every transfer has, in the order of its columns. */
function addTransfer(values: unknown[], row: Transfer, hash: Buffer): void {
  const { sequence, kind, accountId, accountSequence, holdSequence, pendingNanos, postedNanos, createTimeMs } = row;
  values.push(sequence, kind, accountId, accountSequence, holdSequence, pendingNanos, postedNanos, createTimeMs, hash);
}

function addHold(values: unknown[], row: Transfer, hold: HoldRow, hash: Buffer): void {
  addTransfer(values, row, hash);
  const { requestId, keyId, model, nodeId, wantedNanos, price, expireTimeMs, leaseId } = hold;
  values.push(requestId, keyId, model, nodeId, wantedNanos, price, expireTimeMs, leaseId === "" ? null : leaseId);
}

function addUsage(values: unknown[], row: Transfer, record: UsageRow, hash: Buffer): void {
  addTransfer(values, row, hash);
  const { usageSource, overageNanos, operatorCostNanos, upstream, attempts, usage, attemptLog } = record;
  values.push(usageSource, overageNanos, operatorCostNanos ?? null, upstream, attempts);
  values.push(...tokensOf(usage), attemptLog, metersValue(usage));
}

/** A statement for one row, and one for so many rows at once. */
interface RowStatements {
  readonly one: Statement<unknown[], unknown>;
  readonly many: Statement<unknown[], unknown>;
  readonly valuesEach: number;
  readonly atOnce: number;
}

/** Writes rows, which stand in one list, with as few statements as there are for them. Empties the list. */
function writeRows(values: unknown[], { one, many, valuesEach, atOnce }: RowStatements): void {
  while (values.length >= valuesEach * atOnce) many.write(...values.splice(0, valuesEach * atOnce));
  while (values.length > 0) one.write(...values.splice(0, valuesEach));
}
