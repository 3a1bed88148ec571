/** Writes the changes of a book to PostgreSQL: one statement for all rows of a kind. */
import assert from "node:assert";
import type { Book } from "../../ledger/book.js";
import type { HoldRow, MoneyLeaseRow, Note, UsageRow } from "../../ledger/rows.js";
import type { Transfer } from "../../ledger/transfer.js";
import { checkpointDigest } from "../book-rows.js";
import { metersValue, TOKEN_COLUMNS, tokensOf } from "../token-columns.js";
import type { Session } from "./connection.js";
import { type Sql, sql } from "./sql.js";

type Column = readonly [name: string, type: "bigint" | "text" | "bytea"];

/** Lists of values, one for each column, as a table. */
function unnest(columns: readonly Column[]): string {
  return `unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(", ")})`;
}

function namesOf(columns: readonly Column[]): string {
  return columns.map(([name]) => name).join(", ");
}

function insert(table: string, columns: readonly Column[], more = ""): Sql {
  return sql(`INSERT INTO ${table} (${namesOf(columns)}) SELECT * FROM ${unnest(columns)}${more}`);
}

/** Changes the rows whose ids are in the first column. */
function update(table: string, columns: readonly Column[]): Sql {
  const changes = columns.slice(1).map(([name]) => `${name} = new.${name}`);
  return sql(`UPDATE ${table} SET ${changes.join(", ")}
    FROM ${unnest(columns)} AS new (${namesOf(columns)}) WHERE ${table}.id = new.id`);
}

const big = (...names: readonly string[]): Column[] => names.map((name) => [name, "bigint"]);
const text = (...names: readonly string[]): Column[] => names.map((name) => [name, "text"]);
const TOKENS = big(...TOKEN_COLUMNS);

const TRANSFER: readonly Column[] = [
  ...big("sequence"),
  ...text("kind", "account_id"),
  ...big("account_sequence", "hold_sequence"),
  ...text("credit_id"),
  ...big("pending_nanos", "posted_nanos", "create_time_ms"),
  ["hash", "bytea"],
];
const HOLD: readonly Column[] = [
  ...TRANSFER,
  ...text("request_id", "key_id", "model", "node_id"),
  ...big("wanted_nanos"),
  ["price", "bytea"],
  ...big("expire_time_ms"),
  ...text("lease_id"),
];
const LEASE: readonly Column[] = [
  ...text("id", "node_id", "account_id", "key_id"),
  ...big("create_time_ms", "rest_nanos", "recalled"),
];
const USAGE: readonly Column[] = [
  ...TRANSFER,
  ...big("usage_source", "overage_nanos", "operator_cost_nanos"),
  ...text("upstream"),
  ...big("attempts"),
  ...TOKENS,
  ...text("attempt_log", "meters"),
];
const CHECKPOINT: readonly Column[] = [
  ...big("hold_sequence", "cost_nanos", "operator_cost_nanos"),
  ...text("upstream"),
  ...big("attempts"),
  ["digest", "bytea"],
  ...TOKENS,
  ...text("meters"),
];
const DAY_SUMS = big("request_count", "cost_nanos", "refunded_nanos", "operator_cost_nanos", "margin_nanos");
const DAY: readonly Column[] = [...text("day", "account_id", "key_id", "model"), ...DAY_SUMS, ...TOKENS];
const DAY_METER: readonly Column[] = [
  ...text("day", "account_id", "key_id", "model", "unit", "variant"),
  ...big("quantity"),
];
const BUDGET: readonly Column[] = [
  ...text("owner", "owner_id", "period", "bucket"),
  ...big("pending_nanos", "spent_nanos"),
];
const ACCOUNT: readonly Column[] = [
  ...text("id"),
  ...big("debits_pending", "debits_posted", "credits_posted", "debited_nanos", "short", "chain_sequence"),
  ["chain_hash", "bytea"],
];
const LINE: readonly Column[] = [
  ...text("id", "line_start_day"),
  ...big("line_amount_nanos", "line_spent_nanos", "line_used_up_nanos"),
];
const TOTAL: readonly Column[] = [...text("kind"), ...big("shard", "nanos")];
const RELEASE: readonly Column[] = [...big("hold_sequence", "sequence"), ...text("kind"), ...big("end_time_ms")];

const replaced = (columns: readonly Column[]): string =>
  columns.map(([name]) => `${name} = excluded.${name}`).join(", ");
const added = (table: string, columns: readonly Column[]): string =>
  columns.map(([name]) => `${name} = ${table}.${name} + excluded.${name}`).join(", ");

const STATEMENTS = {
  transfers: insert("transfer", [...TRANSFER, ...text("reason", "actor")]),
  holds: insert("transfer", HOLD),
  usages: insert("transfer", USAGE),
  leaseMoves: insert("transfer", [...TRANSFER, ...text("node_id", "key_id")]),
  leases: insert("lease", LEASE, ` ON CONFLICT (id) DO UPDATE SET ${replaced(LEASE.slice(5))}`),
  endLeases: sql("DELETE FROM lease WHERE id = ANY($1::text[])"),
  accounts: update("account", ACCOUNT),
  lines: update("account", LINE),
  openHolds: insert("open_hold", [...big("hold_sequence"), ...text("node_id"), ...big("expire_time_ms")]),
  closeHolds: sql("DELETE FROM open_hold WHERE hold_sequence = ANY($1::bigint[])"),
  checkpoints: insert(
    "checkpoint",
    CHECKPOINT,
    ` ON CONFLICT (hold_sequence) DO UPDATE SET ${replaced(CHECKPOINT.slice(1))}`,
  ),
  dropCheckpoints: sql("DELETE FROM checkpoint WHERE hold_sequence = ANY($1::bigint[])"),
  releases: insert("release", RELEASE),
  days: insert(
    "usage_day",
    DAY,
    ` ON CONFLICT (day, account_id, key_id, model) DO UPDATE SET ${added("usage_day", [...DAY_SUMS, ...TOKENS])}`,
  ),
  dayMeters: insert(
    "usage_day_meter",
    DAY_METER,
    ` ON CONFLICT (day, account_id, key_id, model, unit, variant) DO UPDATE SET ${added("usage_day_meter", big("quantity"))}`,
  ),
  budgets: insert(
    "budget",
    BUDGET,
    ` ON CONFLICT (owner, owner_id, period, bucket) DO UPDATE SET ${replaced(BUDGET.slice(4))}`,
  ),
  beats: insert("node", [...text("id"), ...big("beats")], " ON CONFLICT (id) DO UPDATE SET beats = excluded.beats"),
  endNodes: sql("DELETE FROM node WHERE id = ANY($1::text[])"),
  totals: insert(
    "operator_total",
    TOTAL,
    ` ON CONFLICT (kind, shard) DO UPDATE SET ${added("operator_total", TOTAL.slice(2))}`,
  ),
} as const;

/** Rows of values to lists of columns. */
function listsOf(rows: readonly (readonly unknown[])[]): unknown[][] {
  return (rows[0] ?? []).map((_, column) => rows.map((row) => row[column]));
}

/** All statements go out at once, in this order. No two writers meet but in their nodes' rows, and then in totals. */
export async function writeBook(session: Session, book: Book, shard: number): Promise<void> {
  const insertRows = (statement: Sql, rows: readonly (readonly unknown[])[]): Promise<unknown>[] =>
    rows.length === 0 ? [] : [session.run(statement, listsOf(rows))];
  const exactly = async (statement: Sql, lists: readonly (readonly unknown[])[]): Promise<void> => {
    const count = lists[0]?.length ?? 0;
    if (count === 0) return;
    assert((await session.run(statement, lists)) === count, "a hold that was open or an account is gone");
  };
  const { holds, usages, leases, others } = transferRows(book);
  const closed = closedBefore(book);
  const open = book.createdHolds.filter(({ state }) => state === "held");
  const ended = closed.filter(({ noted }) => noted).map(({ sequence }) => sequence);
  await Promise.all([
    ...insertRows(STATEMENTS.holds, holds),
    ...insertRows(STATEMENTS.usages, usages),
    ...insertRows(STATEMENTS.leaseMoves, leases),
    ...insertRows(STATEMENTS.transfers, others),
    exactly(STATEMENTS.accounts, listsOf(accountRows(book))),
    ...insertRows(STATEMENTS.lines, lineRows(book)),
    ...insertRows(
      STATEMENTS.openHolds,
      open.map(({ sequence, nodeId, expireTimeMs }) => [sequence, nodeId, expireTimeMs]),
    ),
    exactly(STATEMENTS.closeHolds, [closed.map(({ sequence }) => sequence)]),
    ...insertRows(STATEMENTS.leases, leaseRows(book)),
    // After them: one that was granted and returned in the same batch is in both lists.
    ...(book.endedLeases.length === 0
      ? []
      : [session.run(STATEMENTS.endLeases, [book.endedLeases.map(({ id }) => id)])]),
    ...insertRows(STATEMENTS.checkpoints, checkpointRows(book)),
    ...(ended.length === 0 ? [] : [session.run(STATEMENTS.dropCheckpoints, [ended])]),
    ...insertRows(
      STATEMENTS.releases,
      book.releases.map(({ hold, sequence, kind, endTimeMs }) => [hold.sequence, sequence, kind, endTimeMs]),
    ),
    ...insertRows(STATEMENTS.days, dayRows(book)),
    ...insertRows(STATEMENTS.dayMeters, dayMeterRows(book)),
    ...insertRows(STATEMENTS.budgets, budgetRows(book)),
    ...beats(session, book),
    ...insertRows(STATEMENTS.totals, totalRows(book, shard)),
  ]);
}

function beats(session: Session, { changedBeats }: Book): Promise<unknown>[] {
  const rows = [...changedBeats].sort(([one], [other]) => (one < other ? -1 : 1));
  const alive = rows.filter(([, count]) => count !== undefined);
  const ended = rows.filter(([, count]) => count === undefined).map(([id]) => id);
  return [
    ...(alive.length === 0 ? [] : [session.run(STATEMENTS.beats, listsOf(alive))]),
    ...(ended.length === 0 ? [] : [session.run(STATEMENTS.endNodes, [ended])]),
  ];
}

type Written = Record<"holds" | "usages" | "leases" | "others", unknown[][]>;

/** Each with the record that its hash proves: its hold, the usage of the request that it ended, or whose a lease is. */
function transferRows({ transfers, createdHolds, usages, notes, leaseMoves }: Book): Written {
  const written: Written = { holds: [], usages: [], leases: [], others: [] };
  let [holds, ends, noted, moves] = [0, 0, 0, 0];
  for (const row of transfers) {
    const hold = createdHolds[holds];
    const usage = usages[ends];
    const move = leaseMoves[moves];
    const note = notes[noted];
    if (hold?.sequence === row.sequence) {
      holds += 1;
      written.holds.push([...transferValues(row, false), ...holdValues(hold)]);
    } else if (usage?.sequence === row.sequence) {
      ends += 1;
      written.usages.push([...transferValues(row, false), ...usageValues(usage)]);
    } else if (move?.sequence === row.sequence) {
      moves += 1;
      written.leases.push([...transferValues(row, true), move.lease.nodeId, move.lease.keyId]);
    } else {
      const own: Note | undefined = note?.sequence === row.sequence ? note : undefined;
      if (own !== undefined) noted += 1;
      const isNamed = row.kind === "credit" || own !== undefined;
      written.others.push([...transferValues(row, isNamed), own?.reason ?? null, own?.actor ?? null]);
    }
  }
  const all = holds === createdHolds.length && ends === usages.length && noted === notes.length;
  assert(all && moves === leaseMoves.length, "a record has no transfer");
  return written;
}

function transferValues(row: Transfer, isNamed: boolean): unknown[] {
  return [
    row.sequence,
    row.kind,
    row.accountId,
    row.accountSequence,
    row.holdSequence,
    isNamed ? row.causeId : null,
    row.pendingNanos,
    row.postedNanos,
    row.createTimeMs,
    bytesText(row.hash),
  ];
}

function holdValues({ requestId, keyId, model, nodeId, wantedNanos, price, ...row }: HoldRow): unknown[] {
  const lease = row.leaseId === "" ? null : row.leaseId;
  return [requestId, keyId, model, nodeId, wantedNanos, Buffer.from(price), row.expireTimeMs, lease];
}

function lineRows({ renewedLines }: Book): unknown[][] {
  return Array.from(renewedLines).flatMap(({ id, lineGrant }) =>
    lineGrant === undefined
      ? []
      : [[id, lineGrant.startDay, lineGrant.amountNanos, lineGrant.spentNanos, lineGrant.usedUpNanos]],
  );
}

function leaseRows({ changedLeases }: Book): unknown[][] {
  return Array.from(
    changedLeases,
    ({ id, nodeId, accountId, keyId, createTimeMs, restNanos, recalled }: MoneyLeaseRow) => {
      return [id, nodeId, accountId, keyId, createTimeMs, restNanos, Number(recalled)];
    },
  );
}

function usageValues(record: UsageRow): unknown[] {
  const { usageSource, overageNanos, operatorCostNanos, upstream, attempts, usage, attemptLog } = record;
  const terms = [usageSource, overageNanos, operatorCostNanos ?? null, upstream, attempts];
  return [...terms, ...tokensOf(usage), attemptLog, metersValue(usage)];
}

/** As PostgreSQL takes bytes in a list. */
function bytesText(hex: string): string {
  return `\\x${hex}`;
}

/** One that was opened and ended in the same batch was never open for anybody else. */
function closedBefore(book: Book): HoldRow[] {
  const first = book.transfers[0]?.sequence ?? Infinity;
  return book.closedHolds.filter(({ sequence }) => sequence < first);
}

function accountRows({ changedAccounts }: Book): unknown[][] {
  return Array.from(changedAccounts, (row) => [
    row.id,
    row.debitsPending,
    row.debitsPosted,
    row.creditsPosted,
    row.debitedNanos,
    Number(row.short),
    row.chainSequence,
    bytesText(row.chainHash),
  ]);
}

function checkpointRows({ notedHolds }: Book): unknown[][] {
  const rows: unknown[][] = [];
  for (const hold of notedHolds) {
    if (hold.state !== "held") continue;
    const { sequence, costNanos, operatorCostNanos, upstream, attempts, usage } = hold;
    const digest = checkpointDigest(hold);
    const terms = [sequence, costNanos, operatorCostNanos ?? null, upstream, attempts, digest];
    rows.push([...terms, ...tokensOf(usage), metersValue(usage)]);
  }
  return rows;
}

function dayRows({ usageDays }: Book): unknown[][] {
  return usageDays.map((row) => {
    const { day, accountId, keyId, model, requestCount, costNanos, refundedNanos, operatorCostNanos } = row;
    const sums = [requestCount, costNanos, refundedNanos, operatorCostNanos, row.marginNanos];
    return [day, accountId, keyId, model, ...sums, ...tokensOf(row.usage)];
  });
}

function dayMeterRows({ usageDays }: Book): unknown[][] {
  return usageDays.flatMap(({ day, accountId, keyId, model, usage }) =>
    usage.meters.map(({ unit, variant, quantity }) => [day, accountId, keyId, model, unit, variant, quantity]),
  );
}

function budgetRows({ changedBudgets }: Book): unknown[][] {
  return Array.from(changedBudgets, (row) => [
    row.owner,
    row.ownerId,
    row.period,
    row.bucket,
    row.pendingNanos,
    row.spentNanos,
  ]);
}

function totalRows({ totals }: Book, shard: number): unknown[][] {
  const changed = Object.values(totals).filter(({ addedNanos }) => addedNanos > 0n);
  return changed.map(({ kind, addedNanos }) => [kind, shard, addedNanos]);
}
