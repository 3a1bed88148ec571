/** Transfers as they concern one account or one request: what is asked of a database, and what its rows say. */
import { requestIdOf } from "../ledger/fallback-hold.js";
import { JOB_NODE } from "../ledger/rows.js";
import { type Transfer, type TransferKind, creditAccount, debitAccount, transferId } from "../ledger/transfer.js";
import { CREDIT_ACCOUNT, DEBIT_ACCOUNT, LEASED, TRANSFERS, type TransferColumns, toTransfer } from "./columns.js";
import type { EntrySpan, EntrySum, StatementBounds } from "./statement.js";
import type { EntryRow } from "./store.js";

/** The hold of a job's line: what it takes was held before. */
const LINE_HOLD = `transfer.kind = 'hold' AND transfer.node_id = '${JOB_NODE}'`;
/** What a transfer changes of the account that it concerns; an overage concerns it, but the operator pays. */
const AVAILABLE = `CASE WHEN ${LINE_HOLD} THEN 0 ELSE CASE account_id WHEN ${CREDIT_ACCOUNT} THEN posted_nanos
  WHEN ${DEBIT_ACCOUNT} THEN -pending_nanos - posted_nanos ELSE 0 END END`;
const HELD = `CASE WHEN ${LINE_HOLD} THEN 0
  ELSE CASE account_id WHEN ${DEBIT_ACCOUNT} THEN pending_nanos ELSE 0 END END`;
/** A node's lease is no entry: what it has left is available, whoever has it. */
const ENTRIES = `(transfer.kind NOT IN ('lease', 'return') OR transfer.node_id = '${JOB_NODE}')`;
const IN_SPAN = `transfer.account_id = :accountId AND ${ENTRIES} AND transfer.account_sequence >= :first
  AND transfer.account_sequence < :end ORDER BY transfer.account_sequence LIMIT :count`;

/** A request's transfers, each found by its place: an overage is the one behind its settlement. */
export const ENTRIES_OF_REQUEST = `${TRANSFERS} WHERE hold.request_id = :requestId AND transfer.sequence IN (
  SELECT sequence FROM hold WHERE request_id = :requestId
  UNION ALL SELECT release.sequence FROM release JOIN hold ON hold.sequence = hold_sequence
    WHERE request_id = :requestId
  UNION ALL SELECT usage.sequence FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE request_id = :requestId
  UNION ALL SELECT overage.sequence FROM hold JOIN usage ON usage.hold_sequence = hold.sequence
    JOIN transfer AS ended ON ended.sequence = usage.sequence JOIN transfer AS overage
    ON overage.account_id = ended.account_id AND overage.account_sequence = ended.account_sequence + 1
    WHERE hold.request_id = :requestId AND usage.overage_nanos > 0
  UNION ALL SELECT refund.sequence FROM transfer AS refund JOIN hold ON hold.sequence = refund.hold_sequence
    WHERE hold.request_id = :requestId AND refund.reason IS NOT NULL AND refund.account_id = hold.account_id
    AND refund.kind = 'refund'
) ORDER BY transfer.sequence`;

export interface SumColumns {
  readonly last: bigint | null;
  readonly available: bigint | null;
  readonly held: bigint | null;
}

export interface BalanceColumns {
  readonly available: bigint;
  readonly held: bigint;
  readonly newest: bigint;
  /** Where the account's archive ends, and what stood on it there; null where it has none. */
  readonly archived: bigint | null;
  readonly archived_available: bigint | null;
  readonly archived_held: bigint | null;
  readonly archived_until: bigint | null;
}

export type SpanParameters = EntrySpan & { readonly accountId: string; readonly count: number };

/** Newest first, back to the archive. */
export const NEWEST_ENTRIES = `${TRANSFERS} WHERE transfer.account_id = :accountId AND ${ENTRIES}
  AND transfer.account_sequence > coalesce((SELECT account_sequence FROM archive_account
    WHERE archive_account.account_id = :accountId), 0)
  AND transfer.account_sequence < :before ORDER BY transfer.account_sequence DESC LIMIT :count`;

/** Oldest first. */
export const SPAN = `${TRANSFERS} WHERE ${IN_SPAN}`;

/** What the first `count` entries of a span change together. */
export const SPAN_SUM = `SELECT max(account_sequence) AS last, sum(available) AS available, sum(held) AS held
  FROM (SELECT account_sequence, ${AVAILABLE} AS available, ${HELD} AS held FROM transfer WHERE ${IN_SPAN}) AS entry`;

export const POINT = `SELECT credits_posted - debits_posted - debits_pending + ${LEASED} AS available,
  debits_pending - ${LEASED} AS held, chain_sequence AS newest, archive_account.account_sequence AS archived,
  archive_account.available_nanos AS archived_available, archive_account.held_nanos AS archived_held,
  (SELECT max(until_ms) FROM archive) AS archived_until
  FROM account LEFT JOIN archive_account ON archive_account.account_id = account.id WHERE account.id = ?`;

export const TIME_OF = "SELECT create_time_ms FROM transfer WHERE account_id = ? AND account_sequence = ?";

/** Where the entries of an account begin that are in the database, and what stood on it before them. */
export function toStart(row: BalanceColumns): Pick<StatementBounds, "start" | "archivedUntilMs"> {
  const { archived, archived_available: availableNanos, archived_held: heldNanos, archived_until: untilMs } = row;
  return {
    start: { place: Number(archived ?? 0n) + 1, availableNanos: availableNanos ?? 0n, heldNanos: heldNanos ?? 0n },
    archivedUntilMs: archived === null || untilMs === null ? undefined : Number(untilMs),
  };
}

export function toSum(row: SumColumns | undefined): EntrySum {
  const last = row?.last ?? undefined;
  return {
    last: last === undefined ? undefined : Number(last),
    availableNanos: row?.available ?? 0n,
    heldNanos: row?.held ?? 0n,
  };
}

export function toEntry(row: TransferColumns): EntryRow {
  const transfer = toTransfer(row);
  const kind = ENTRY_KINDS[transfer.kind];
  const isLineHold = transfer.kind === "hold" && row.node_id === JOB_NODE;
  const { sequence, accountSequence, accountId, pendingNanos, createTimeMs } = transfer;
  const isDebited = debitAccount(transfer) === accountId;
  return {
    id: transferId(transfer),
    kind,
    sequence,
    accountSequence,
    amountNanos: amountOf(transfer),
    availableChangeNanos: isLineHold ? 0n : availableChange(transfer),
    heldChangeNanos: isDebited && !isLineHold ? pendingNanos : 0n,
    requestId: requestIdOf(row.request_id ?? ""),
    createTimeMs,
    debitAccount: debitAccount(transfer),
    creditAccount: creditAccount(transfer),
    reason: row.reason ?? "",
    actor: row.actor ?? "",
  };
}

/** What was set aside or freed of what is only set aside, and what all others paid. */
function amountOf({ kind, pendingNanos, postedNanos }: Transfer): bigint {
  if (kind === "hold" || kind === "lease") return pendingNanos;
  return kind === "void" || kind === "expire" || kind === "return" ? -pendingNanos : postedNanos;
}

/** The kinds that an account's holder sees. Of the leases only those of jobs are entries. */
const ENTRY_KINDS = {
  hold: "hold",
  settle: "settle",
  void: "void",
  expire: "expire",
  overage: "overage",
  credit: "credit",
  refund: "refund",
  debit: "debit",
  receivable: "receivable",
  lease: "reserve",
  return: "return",
} as const satisfies Record<TransferKind, EntryRow["kind"]>;

/** An overage concerns the account, but the operator pays it. */
function availableChange({ kind, pendingNanos, postedNanos }: Transfer): bigint {
  if (kind === "credit" || kind === "refund") return postedNanos;
  return kind === "overage" || kind === "receivable" ? 0n : -pendingNanos - postedNanos;
}
