/** What is asked of the tables of people about second factors and proofs, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import type { SecondFactorRow, UserRow } from "./people-rows.js";
import { findUser, holdUser } from "./people-writes.js";
import { audit, row, rows, type Script } from "./script.js";

interface FactorColumns {
  readonly user_id: string;
  readonly sealed: Uint8Array;
  readonly last_step: bigint;
  readonly create_time_ms: bigint;
  readonly confirm_time_ms: bigint | null;
}

const FACTOR = "SELECT * FROM second_factor WHERE user_id = ?";
/** One that nobody confirmed makes room. */
const ENROL = `INSERT INTO second_factor (user_id, sealed, last_step, create_time_ms, confirm_time_ms)
  VALUES (?, ?, ?, ?, NULL) ON CONFLICT (user_id) DO UPDATE SET
  sealed = excluded.sealed, last_step = excluded.last_step, create_time_ms = excluded.create_time_ms
  WHERE second_factor.confirm_time_ms IS NULL RETURNING user_id`;
const CONFIRM = `UPDATE second_factor SET confirm_time_ms = ?, last_step = ?
  WHERE user_id = ? AND confirm_time_ms IS NULL AND last_step < ? RETURNING user_id`;
/** Of two that show the same code one is taken, on whatever node. */
const USE_STEP = `UPDATE second_factor SET last_step = ?
  WHERE user_id = ? AND confirm_time_ms IS NOT NULL AND last_step < ? RETURNING user_id`;
const AFTER = "SELECT user_id, sealed FROM second_factor WHERE user_id > ? ORDER BY user_id LIMIT ?";
/** What was enrolled anew meanwhile stays as it is. */
const RESEAL = "UPDATE second_factor SET sealed = ? WHERE user_id = ? AND sealed = ? RETURNING user_id";
const DROP = "DELETE FROM second_factor WHERE user_id = ? AND confirm_time_ms IS NOT NULL RETURNING user_id";
const DROP_CODES = "DELETE FROM recovery_code WHERE user_id = ?";
const USE_CODE = "DELETE FROM recovery_code WHERE user_id = ? AND digest = ? RETURNING user_id";
const REQUIRE = `INSERT INTO account_security (account_id, second_factor_required) VALUES (?, ?)
  ON CONFLICT (account_id) DO UPDATE SET second_factor_required = excluded.second_factor_required`;

export const FACTOR_SCRIPTS = {
  *secondFactor(userId: string): Script<SecondFactorRow | undefined> {
    const found = yield* row<FactorColumns>(FACTOR, userId);
    if (found === undefined) return undefined;
    return {
      userId: found.user_id,
      sealed: found.sealed,
      lastStep: Number(found.last_step),
      createTimeMs: Number(found.create_time_ms),
      confirmTimeMs: found.confirm_time_ms === null ? null : Number(found.confirm_time_ms),
    };
  },

  /** False where the person has one that is confirmed, or is not there any more. */
  *enrolSecondFactor(factor: Omit<SecondFactorRow, "confirmTimeMs">, event: AuditEvent): Script<boolean> {
    const { userId, sealed, lastStep, createTimeMs } = factor;
    if ((yield* holdUser(userId)) === undefined) return false;
    if ((yield* row(ENROL, userId, sealed, lastStep, createTimeMs)) === undefined) return false;
    yield* audit(event);
    return true;
  },

  /** Undefined where there is none to confirm, or the code was used before. */
  *confirmSecondFactor(
    { userId, step, sessionId, nowMs }: ConfirmedFactor,
    codes: readonly Uint8Array[],
    event: AuditEvent,
  ): Script<"first" | "added" | undefined> {
    const user = yield* holdUser(userId);
    if (user === undefined || (yield* row(CONFIRM, nowMs, step, userId, step)) === undefined) return undefined;
    const isFirst = yield* firstFactor(user, sessionId, codes);
    yield* audit(event);
    return isFirst ? "first" : "added";
  },

  /** In the order of their people's ids; confirmed or not. */
  *sealedFactors(afterUserId: string, count: number): Script<readonly SealedFactor[]> {
    const found = yield* rows<Pick<FactorColumns, "user_id" | "sealed">>(AFTER, afterUserId, count);
    return found.map(({ user_id, sealed }) => ({ userId: user_id, sealed }));
  },

  /** False where it changed since it was read. It is no change that a person makes: nothing is recorded. */
  *resealFactor(userId: string, sealed: Uint8Array, before: Uint8Array): Script<boolean> {
    return (yield* row(RESEAL, sealed, userId, before)) !== undefined;
  },

  *useStep(userId: string, step: number): Script<boolean> {
    return (yield* row(USE_STEP, step, userId, step)) !== undefined;
  },

  *useRecoveryCode(userId: string, digest: Uint8Array): Script<boolean> {
    return (yield* row(USE_CODE, userId, digest)) !== undefined;
  },

  *recoveryCodesLeft(userId: string): Script<number> {
    const found = yield* row<{ readonly count: bigint }>(
      "SELECT COUNT(*) AS count FROM recovery_code WHERE user_id = ?",
      userId,
    );
    return Number(found?.count ?? 0);
  },

  /** False where the person has no second factor. */
  *replaceRecoveryCodes(userId: string, codes: readonly Uint8Array[], event: AuditEvent): Script<boolean> {
    const user = yield* holdUser(userId);
    if (user?.secondFactor !== true) return false;
    yield* writeCodes(userId, codes);
    yield* audit(event);
    return true;
  },

  /** The authenticator app alone: passkeys stay, and with them the recovery codes. False where the person has none. */
  *dropSecondFactor(userId: string, event: AuditEvent): Script<boolean> {
    yield* holdUser(userId);
    if ((yield* row(DROP, userId)) === undefined) return false;
    yield* dropCodesWithLast(userId);
    yield* audit(event);
    return true;
  },

  /** The authenticator app, every passkey and the recovery codes. */
  *dropSecondFactors(userId: string, event: AuditEvent): Script<void> {
    const user = yield* holdUser(userId);
    for (const table of ["second_factor", "passkey", "recovery_code"])
      yield* rows(`DELETE FROM ${table} WHERE user_id = ?`, userId);
    if (user?.secondFactor === true) yield* audit(event);
  },

  *proveSession(id: string, nowMs: number, event: AuditEvent): Script<boolean> {
    const found = yield* row("UPDATE session SET proof_time_ms = ? WHERE id = ? RETURNING id", nowMs, id);
    if (found !== undefined) yield* audit(event);
    return found !== undefined;
  },

  *secondFactorRequired(accountId: string): Script<boolean> {
    const sql = "SELECT second_factor_required AS required FROM account_security WHERE account_id = ?";
    const found = yield* row<{ readonly required: bigint }>(sql, accountId);
    return Number(found?.required ?? 0) === 1;
  },

  *requireSecondFactor(accountId: string, required: boolean, event: AuditEvent): Script<void> {
    yield* rows(REQUIRE, accountId, required ? 1 : 0);
    yield* audit(event);
  },
};

export type SealedFactor = Pick<SecondFactorRow, "userId" | "sealed">;

/** Who confirms a second factor by the code of which step, in which session. */
export interface ConfirmedFactor {
  readonly userId: string;
  readonly step: number;
  readonly sessionId: string;
  readonly nowMs: number;
}

/**
 * Where a person had no second factor before: writes the recovery codes, and ends every session but this one, since the
 * others began without it. False where the person had one.
 */
export function* firstFactor(
  { id, secondFactor: hadOne }: UserRow,
  sessionId: string,
  codes: readonly Uint8Array[],
): Script<boolean> {
  if (hadOne) return false;
  yield* writeCodes(id, codes);
  yield* rows("DELETE FROM session WHERE user_id = ? AND id <> ?", id, sessionId);
  return true;
}

/** Recovery codes stand in for a second factor, and go with the last one. */
export function* dropCodesWithLast(userId: string): Script<void> {
  if ((yield* findUser(userId))?.secondFactor !== true) yield* rows(DROP_CODES, userId);
}

function* writeCodes(userId: string, codes: readonly Uint8Array[]): Script<void> {
  yield* rows(DROP_CODES, userId);
  for (const digest of codes) yield* rows("INSERT INTO recovery_code (user_id, digest) VALUES (?, ?)", userId, digest);
}
