/** Rows as SQLite gives them, and as the program knows them. Every integer comes as a bigint. */
import type { HoldRow, HoldState } from "../ledger/rows.js";
import type { Transfer, TransferKind } from "../ledger/transfer.js";
import { type TokenColumns, usageOf } from "./token-columns.js";

export interface AccountColumns {
  readonly id: string;
  readonly debits_pending: bigint;
  readonly debits_posted: bigint;
  readonly credits_pending: bigint;
  readonly credits_posted: bigint;
}

export interface TransferColumns {
  readonly sequence: bigint;
  readonly id: string;
  readonly kind: TransferKind;
  readonly debit_account: string;
  readonly credit_account: string;
  readonly account_id: string;
  readonly pending_nanos: bigint;
  readonly posted_nanos: bigint;
  readonly request_id: string;
  readonly create_time_ms: bigint;
  readonly previous_hash: Buffer;
  readonly hash: Buffer;
}

export interface HoldColumns extends TokenColumns {
  readonly request_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly node_id: string;
  readonly wanted_nanos: bigint;
  readonly amount_nanos: bigint;
  readonly price: Buffer;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
  readonly state: HoldState;
  readonly recovered: bigint;
  readonly end_time_ms: bigint | null;
  readonly charged_nanos: bigint;
  readonly overage_nanos: bigint;
  readonly cost_nanos: bigint;
  readonly upstream: string;
  readonly attempts: bigint;
}

export function toTransfer(row: TransferColumns): Transfer {
  return {
    sequence: Number(row.sequence),
    id: row.id,
    kind: row.kind,
    debitAccount: row.debit_account,
    creditAccount: row.credit_account,
    accountId: row.account_id,
    pendingNanos: row.pending_nanos,
    postedNanos: row.posted_nanos,
    requestId: row.request_id,
    createTimeMs: Number(row.create_time_ms),
    previousHash: row.previous_hash,
    hash: row.hash,
  };
}

export function toHold(row: HoldColumns): HoldRow {
  return {
    requestId: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    nodeId: row.node_id,
    wantedNanos: row.wanted_nanos,
    amountNanos: row.amount_nanos,
    price: row.price,
    createTimeMs: Number(row.create_time_ms),
    expireTimeMs: Number(row.expire_time_ms),
    state: row.state,
    recovered: row.recovered === 1n,
    endTimeMs: toTimeMs(row.end_time_ms),
    chargedNanos: row.charged_nanos,
    overageNanos: row.overage_nanos,
    usage: usageOf(row),
    costNanos: row.cost_nanos,
    upstream: row.upstream,
    attempts: Number(row.attempts),
  };
}

export function toTimeMs(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
