/** Keys: what is asked of a database, and what its rows say. */
import { toTimeMs } from "./columns.js";
import { digestOf } from "./digest.js";
import { searchTextOf } from "./key-list.js";
import { type FileState, type KeyRow, KEYS_MAX } from "./store.js";
import { placeholders } from "./token-columns.js";

export interface KeyColumns {
  readonly id: string;
  readonly account_id: string;
  readonly maker_id: string | null;
  readonly maker_user_id: string | null;
  readonly settings: Uint8Array;
  readonly digest: Uint8Array;
  readonly previous_digest: Uint8Array | null;
  readonly previous_until_ms: bigint | null;
  readonly hint: string;
  readonly create_time_ms: bigint;
  readonly revoke_time_ms: bigint | null;
  readonly file_state: FileState;
  readonly revision: bigint;
}

export const INSERT_KEY = `INSERT INTO key (id, account_id, settings, digest, previous_digest, previous_until_ms, hint,
  create_time_ms, revoke_time_ms, revision, maker_id, maker_user_id, file_state, search_text,
  row_digest) VALUES (${placeholders(15)}) ON CONFLICT DO NOTHING`;
export const COUNT_KEYS = `SELECT count(*) AS count FROM (SELECT 1 FROM key WHERE account_id = ?
  AND revoke_time_ms IS NULL LIMIT ${KEYS_MAX}) AS alive`;
export const KEY = "SELECT * FROM key WHERE id = ?";
export const KEY_BY_DIGEST = "SELECT * FROM key WHERE digest = ?";
export const KEY_BY_PREVIOUS_DIGEST =
  "SELECT * FROM key WHERE previous_digest = ? ORDER BY previous_until_ms DESC LIMIT 1";
export const REPLACE_KEY = `UPDATE key SET account_id = ?, settings = ?, digest = ?, previous_digest = ?,
  previous_until_ms = ?, hint = ?, create_time_ms = ?, revoke_time_ms = ?, revision = ?, maker_id = ?,
  maker_user_id = ?, file_state = ?, search_text = ?, row_digest = ? WHERE id = ? AND revision = ?`;

/**
 * The digest behind them is over all of the row but what keys are found by, which follows from the rest: the proof
 * finds a setting that was changed.
 */
export function changeableValues(key: KeyRow): unknown[] {
  const values = [
    key.accountId,
    key.settings,
    key.digest,
    key.previousDigest,
    key.previousUntilMs,
    key.hint,
    key.createTimeMs,
    key.revokeTimeMs,
    key.revision,
  ];
  // Rows of a schema that kept no maker say nothing of one, so that they fit their digests for ever.
  const made = key.makerId === null ? [] : [key.makerId];
  const userId = key.makerUserId ?? null;
  const byUser = userId === null ? [] : ["user", userId];
  return [
    ...values,
    key.makerId,
    userId,
    key.fileState ?? "",
    key.searchText ?? searchTextOf("", key.hint, key.id),
    digestOf(key.id, ...values, ...made, ...byUser),
  ];
}

export function toKey(row: KeyColumns | undefined): KeyRow | undefined {
  if (row === undefined) return undefined;
  return {
    id: row.id,
    accountId: row.account_id,
    makerId: row.maker_id,
    makerUserId: row.maker_user_id,
    settings: row.settings,
    digest: row.digest,
    previousDigest: row.previous_digest,
    previousUntilMs: toTimeMs(row.previous_until_ms),
    hint: row.hint,
    createTimeMs: Number(row.create_time_ms),
    revokeTimeMs: toTimeMs(row.revoke_time_ms),
    fileState: row.file_state,
    revision: Number(row.revision),
  };
}
