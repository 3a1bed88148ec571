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

/** A batch of codes in figures. */
export interface TopUpBatchRow {
  readonly id: string;
  readonly amountNanos: bigint;
  readonly note: string;
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
  readonly codeCount: number;
  readonly redeemedCount: number;
  readonly voidCount: number;
}

interface BatchColumns {
  readonly batch_id: string;
  readonly amount_nanos: bigint;
  readonly note: string;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
  readonly code_count: bigint;
  readonly redeemed_count: bigint;
  readonly void_count: bigint;
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
/** All codes of a batch are made alike, so that the least of a column is that of each. */
const BATCHES = `SELECT batch_id, MIN(amount_nanos) AS amount_nanos, MIN(note) AS note,
    MIN(create_time_ms) AS create_time_ms, MIN(expire_time_ms) AS expire_time_ms, COUNT(*) AS code_count,
    COUNT(account_id) AS redeemed_count, COUNT(void_time_ms) AS void_count
  FROM top_up_code GROUP BY batch_id
  HAVING MIN(create_time_ms) < ? OR (MIN(create_time_ms) = ? AND batch_id < ?)
  ORDER BY MIN(create_time_ms) DESC, batch_id DESC LIMIT ?`;
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

  /** Those behind a batch, from the newest on. */
  *topUpBatches(beforeMs: number, beforeId: string, size: number): Script<readonly TopUpBatchRow[]> {
    return (yield* rows<BatchColumns>(BATCHES, beforeMs, beforeMs, beforeId, size)).map(toBatch);
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

function toBatch(found: BatchColumns): TopUpBatchRow {
  return {
    id: found.batch_id,
    amountNanos: found.amount_nanos,
    note: found.note,
    createTimeMs: Number(found.create_time_ms),
    expireTimeMs: Number(found.expire_time_ms),
    codeCount: Number(found.code_count),
    redeemedCount: Number(found.redeemed_count),
    voidCount: Number(found.void_count),
  };
}

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
