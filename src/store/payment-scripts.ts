/** What is asked of the tables of payments, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { audit, row, rows, type Script } from "./script.js";

/** A code that is worth money. Its text is stored as a digest alone. */
export interface TopUpCodeRow {
  readonly id: string;
  readonly batchId: string;
  /** SHA-256 of the code. Unique. */
  readonly digest: Uint8Array;
  readonly amountNanos: bigint;
  readonly note: string;
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
  readonly voidTimeMs: number | null;
  /** Who redeemed it. */
  readonly accountId: string | null;
  readonly redeemTimeMs: number | null;
  /** When the ledger had its credit: before that it is owed. */
  readonly creditTimeMs: number | null;
}

interface CodeColumns {
  readonly id: string;
  readonly batch_id: string;
  readonly digest: Uint8Array;
  readonly amount_nanos: bigint;
  readonly note: string;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
  readonly void_time_ms: bigint | null;
  readonly account_id: string | null;
  readonly redeem_time_ms: bigint | null;
  readonly credit_time_ms: bigint | null;
}

const INSERT = `INSERT INTO top_up_code (id, batch_id, digest, amount_nanos, note, create_time_ms, expire_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
/** Of two who redeem at once, on whatever node, one finds it open. */
const CLAIM = `UPDATE top_up_code SET account_id = ?, redeem_time_ms = ?
  WHERE digest = ? AND account_id IS NULL AND void_time_ms IS NULL AND expire_time_ms > ? RETURNING *`;
const CLAIMED = "SELECT * FROM top_up_code WHERE digest = ? AND account_id = ?";
const VOID = `UPDATE top_up_code SET void_time_ms = ? WHERE batch_id = ? AND (? = '' OR id = ?)
  AND account_id IS NULL AND void_time_ms IS NULL RETURNING id`;
const OWED = `SELECT * FROM top_up_code
  WHERE redeem_time_ms IS NOT NULL AND credit_time_ms IS NULL AND redeem_time_ms <= ?
  ORDER BY redeem_time_ms LIMIT 100`;

export const PAYMENT_SCRIPTS = {
  *makeTopUpCodes(codes: readonly TopUpCodeRow[], event: AuditEvent): Script<void> {
    for (const { id, batchId, digest, amountNanos, note, createTimeMs, expireTimeMs } of codes)
      yield* rows(INSERT, id, batchId, digest, amountNanos, note, createTimeMs, expireTimeMs);
    yield* audit(event);
  },

  *topUpCodes(batchId: string, afterId: string, size: number): Script<readonly TopUpCodeRow[]> {
    const sql = "SELECT * FROM top_up_code WHERE (? = '' OR batch_id = ?) AND id > ? ORDER BY id LIMIT ?";
    return (yield* rows<CodeColumns>(sql, batchId, batchId, afterId, size)).map(toCode);
  },

  /** How many ended; undefined where there is no such batch, or no such code in it. */
  *voidTopUpCodes(batchId: string, id: string, nowMs: number, event: AuditEvent): Script<number | undefined> {
    const sql = "SELECT id FROM top_up_code WHERE batch_id = ? AND (? = '' OR id = ?) LIMIT 1";
    if ((yield* row(sql, batchId, id, id)) === undefined) return undefined;
    const ended = yield* rows(VOID, nowMs, batchId, id, id);
    yield* audit(event);
    return ended.length;
  },

  /** The code, claimed for the account now or before; undefined where it is not to be had. */
  *claimTopUpCode(digest: Uint8Array, accountId: string, nowMs: number): Script<TopUpCodeRow | undefined> {
    const claimed =
      (yield* row<CodeColumns>(CLAIM, accountId, nowMs, digest, nowMs)) ??
      (yield* row<CodeColumns>(CLAIMED, digest, accountId));
    return claimed && toCode(claimed);
  },

  *noteTopUpCredit(id: string, nowMs: number): Script<void> {
    yield* rows("UPDATE top_up_code SET credit_time_ms = ? WHERE id = ? AND credit_time_ms IS NULL", nowMs, id);
  },

  /** Codes that were claimed so long ago, and are not known to be credited. */
  *owedTopUpCodes(untilMs: number): Script<readonly TopUpCodeRow[]> {
    return (yield* rows<CodeColumns>(OWED, untilMs)).map(toCode);
  },
};

function toCode(found: CodeColumns): TopUpCodeRow {
  return {
    id: found.id,
    batchId: found.batch_id,
    digest: found.digest,
    amountNanos: found.amount_nanos,
    note: found.note,
    createTimeMs: Number(found.create_time_ms),
    expireTimeMs: Number(found.expire_time_ms),
    voidTimeMs: timeOf(found.void_time_ms),
    accountId: found.account_id,
    redeemTimeMs: timeOf(found.redeem_time_ms),
    creditTimeMs: timeOf(found.credit_time_ms),
  };
}

function timeOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}
