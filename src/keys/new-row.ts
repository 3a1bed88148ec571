/** The row of a key that is made. */
import { KeySettings } from "../api/index.js";
import type { KeyRow } from "../store/store.js";
import type { CreateKeyParams } from "./grant.js";
import { FIRST_REVISION } from "./key-caller.js";
import { newSettings } from "./key-settings.js";
import { searchable } from "./searchable.js";

/** `nowMs`: whole milliseconds. Throws PARAMETER_INVALID where the settings are not possible. */
export function rowOfKey(
  { accountId, makerId, makerUserId, settings }: CreateKeyParams,
  { id, digest, hint }: Pick<KeyRow, "id" | "digest" | "hint">,
  nowMs: number,
): KeyRow {
  return searchable({
    id,
    accountId,
    makerId: makerId ?? null,
    makerUserId: makerUserId ?? null,
    settings: KeySettings.encode(newSettings(settings)).finish(),
    digest,
    previousDigest: null,
    previousUntilMs: null,
    hint,
    createTimeMs: nowMs,
    revokeTimeMs: null,
    revision: FIRST_REVISION,
  });
}
