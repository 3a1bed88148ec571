/** Rows as the databases give them, and as the program knows them. Every integer comes as a bigint. */
import {
  JOB_NODE,
  type BudgetRow,
  type HoldRow,
  type HoldState,
  type HoldTerms,
  OPERATOR_DEBITS,
  OPERATOR_GRANTS,
  OPERATOR_OVERAGE,
  OPERATOR_RECEIVABLES,
  OPERATOR_REFUNDS,
  OPERATOR_REVENUE,
  SOURCE_NONE,
  SOURCE_RECOVERED,
} from "../ledger/rows.js";
import type { Transfer, TransferKind } from "../ledger/transfer.js";
import { hexOf } from "./digest.js";
import type { FileState } from "./seed-rows.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "./token-columns.js";

export interface AccountColumns {
  readonly id: string;
  readonly name: string;
  readonly create_time_ms: bigint;
  readonly budget_day_nanos: bigint;
  readonly budget_month_nanos: bigint;
  readonly budget_total_nanos: bigint;
  readonly request_cost_max_nanos: bigint;
  readonly debits_pending: bigint;
  readonly debits_posted: bigint;
  readonly credits_posted: bigint;
  readonly debited_nanos: bigint;
  readonly short: bigint;
  readonly chain_sequence: bigint;
  readonly chain_hash: Uint8Array;
  readonly frozen_time_ms: bigint | null;
  readonly freeze_reason: string | null;
  readonly freeze_actor: string | null;
  readonly freeze_ends_streams: bigint | null;
  readonly requests_per_minute: bigint;
  readonly tokens_per_minute: bigint;
  readonly concurrency: bigint;
  readonly model_limits: Uint8Array;
  readonly plan: string;
  readonly file_state: FileState;
  readonly line_start_day: string;
  readonly line_amount_nanos: bigint;
  readonly line_spent_nanos: bigint;
  readonly line_used_up_nanos: bigint;
}

export interface TransferColumns {
  readonly sequence: bigint;
  readonly kind: TransferKind;
  readonly account_id: string;
  readonly account_sequence: bigint;
  readonly hold_sequence: bigint;
  readonly credit_id: string | null;
  readonly pending_nanos: bigint;
  readonly posted_nanos: bigint;
  readonly create_time_ms: bigint;
  readonly hash: Uint8Array;
  /** Of its hold; null for credits and debits. */
  readonly request_id: string | null;
  readonly reason: string | null;
  readonly actor: string | null;
  /** Of a hold, and of a lease and its return. */
  readonly node_id: string | null;
}

/** A lease that a node has, and not what a job set aside. */
export const OF_NODE = `node_id <> '${JOB_NODE}'`;

/** What is left of all leases that nodes have of an account. What jobs set aside is held. */
export const LEASED = `(SELECT CAST(COALESCE(SUM(rest_nanos), 0) AS bigint) FROM lease
  WHERE lease.account_id = account.id AND lease.${OF_NODE})`;

/** The account that a transfer debits, and the one that it credits, as `transfer.ts` says it of one in memory. */
export const DEBIT_ACCOUNT = `CASE kind WHEN 'credit' THEN '${OPERATOR_GRANTS}'
  WHEN 'overage' THEN '${OPERATOR_OVERAGE}' WHEN 'refund' THEN '${OPERATOR_REFUNDS}'
  WHEN 'receivable' THEN '${OPERATOR_RECEIVABLES}' ELSE transfer.account_id END`;
export const CREDIT_ACCOUNT = `CASE kind WHEN 'credit' THEN transfer.account_id WHEN 'refund' THEN transfer.account_id
  WHEN 'debit' THEN '${OPERATOR_DEBITS}' WHEN 'receivable' THEN '${OPERATOR_DEBITS}' ELSE '${OPERATOR_REVENUE}' END`;

/** What a transfer says, with the id of the request that caused it. */
export const TRANSFERS = `SELECT transfer.sequence, transfer.kind, transfer.account_id, transfer.account_sequence,
  hold_sequence, credit_id, pending_nanos, posted_nanos, transfer.create_time_ms, hash, hold.request_id,
  transfer.reason, transfer.actor, transfer.node_id
  FROM transfer LEFT JOIN hold ON hold.sequence = hold_sequence`;

export interface TermsColumns {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly node_id: string;
  readonly lease_id: string | null;
  readonly wanted_nanos: bigint;
  readonly amount_nanos: bigint;
  readonly price: Uint8Array;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
}

export interface RequestColumns extends TermsColumns, TokenColumns {
  readonly sequence: bigint;
  readonly account_sequence: bigint;
  readonly open_sequence: bigint | null;
  readonly release_kind: "void" | "expire" | null;
  readonly release_time_ms: bigint | null;
  readonly noted_nanos: bigint | null;
  readonly usage_source: bigint | null;
  readonly charged_nanos: bigint | null;
  readonly overage_nanos: bigint | null;
  readonly operator_cost_nanos: bigint | null;
  readonly usage_time_ms: bigint | null;
  readonly upstream: string;
  readonly attempts: bigint;
  readonly attempt_log: string | null;
  readonly meters: string | null;
  readonly refunded_nanos: bigint;
}

/** A request with what is known of it: its usage where it has ended, else its last checkpoint. */
export const REQUESTS = `SELECT hold.*, open_hold.hold_sequence AS open_sequence, release.kind AS release_kind,
  release.end_time_ms AS release_time_ms, checkpoint.cost_nanos AS noted_nanos, usage_source, charged_nanos,
  overage_nanos, COALESCE(usage.operator_cost_nanos, checkpoint.operator_cost_nanos) AS operator_cost_nanos,
  usage.end_time_ms AS usage_time_ms, COALESCE(usage.upstream, checkpoint.upstream, '') AS upstream,
  COALESCE(usage.attempts, checkpoint.attempts, 0) AS attempts, attempt_log,
  CASE WHEN usage_source IS NULL THEN checkpoint.meters ELSE usage.meters END AS meters,
  COALESCE((SELECT SUM(posted_nanos) FROM transfer WHERE reason IS NOT NULL AND transfer.account_id = hold.account_id
    AND transfer.kind = 'refund' AND transfer.hold_sequence = hold.sequence), 0) AS refunded_nanos,
  ${TOKEN_COLUMNS.map((name) => `COALESCE(usage.${name}, checkpoint.${name}, 0) AS ${name}`).join(", ")}
  FROM hold LEFT JOIN open_hold ON open_hold.hold_sequence = hold.sequence
  LEFT JOIN usage ON usage.hold_sequence = hold.sequence
  LEFT JOIN release ON release.hold_sequence = hold.sequence
  LEFT JOIN checkpoint ON checkpoint.hold_sequence = hold.sequence`;

export function toTransfer(row: TransferColumns): Transfer {
  return {
    sequence: Number(row.sequence),
    kind: row.kind,
    accountId: row.account_id,
    accountSequence: Number(row.account_sequence),
    causeId: row.credit_id ?? row.request_id ?? "",
    holdSequence: Number(row.hold_sequence),
    pendingNanos: row.pending_nanos,
    postedNanos: row.posted_nanos,
    createTimeMs: Number(row.create_time_ms),
    hash: hexOf(row.hash),
  };
}

export function toTerms(row: TermsColumns): HoldTerms {
  return {
    requestId: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    nodeId: row.node_id,
    leaseId: row.lease_id ?? "",
    wantedNanos: row.wanted_nanos,
    amountNanos: row.amount_nanos,
    price: row.price,
    createTimeMs: Number(row.create_time_ms),
    expireTimeMs: Number(row.expire_time_ms),
  };
}

export function toHold(row: RequestColumns, counters: readonly BudgetRow[]): HoldRow {
  return {
    ...toTerms(row),
    sequence: Number(row.sequence),
    counters,
    state: stateOf(row),
    recovered: row.release_kind !== null || row.usage_source === BigInt(SOURCE_RECOVERED),
    noted: row.noted_nanos !== null,
    endTimeMs: endTimeOf(row),
    chargedNanos: row.charged_nanos ?? 0n,
    overageNanos: row.overage_nanos ?? 0n,
    refundedNanos: row.refunded_nanos,
    usage: usageOf(row, row.meters),
    costNanos: costOf(row),
    operatorCostNanos: row.operator_cost_nanos ?? undefined,
    upstream: row.upstream,
    attempts: Number(row.attempts),
    chained: undefined,
    older: undefined,
    newer: undefined,
    changed: false,
  };
}

/** A late settlement stands beside the release that it came after, and says more. */
export function stateOf(row: RequestColumns): HoldState {
  if (row.open_sequence !== null) return "held";
  if (row.usage_source !== null) return row.usage_source === BigInt(SOURCE_NONE) ? "voided" : "settled";
  return row.release_kind === "void" ? "voided" : "expired";
}

export function costOf(row: RequestColumns): bigint {
  return row.charged_nanos === null ? (row.noted_nanos ?? 0n) : row.charged_nanos + (row.overage_nanos ?? 0n);
}

export function endTimeOf(row: RequestColumns): number | null {
  return toTimeMs(row.usage_time_ms ?? row.release_time_ms);
}

export function toTimeMs(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
