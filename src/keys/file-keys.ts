/** What a settings file that manages its keys makes of them. Pure: without a change, the answer is the same row. */
import { KeySettings } from "../api/index.js";
import type { KeyRow } from "../store/store.js";
import { newSettings } from "./key-settings.js";
import { searchable } from "./searchable.js";

export interface SeededKey {
  /** As a new key would be. */
  readonly row: KeyRow;
  /** The key that has the secret already; undefined where none has. */
  readonly found: KeyRow | undefined;
}

/** The key with the settings of the file. A key that the file had removed is alive again. */
export function managedKey(row: KeyRow, given: KeySettings): KeyRow {
  // What was revoked by other means than the file stays revoked.
  if (row.revokeTimeMs !== null && row.fileState !== "removed") return row;
  const settings = KeySettings.encode(newSettings(given)).finish();
  if (row.fileState === "managed" && Buffer.compare(row.settings, settings) === 0) return row;
  return changedByFile({ ...row, settings, revokeTimeMs: null, fileState: "managed" });
}

/** The key that its file no longer names: revoked, until a file names it again. */
export function removedKey(row: KeyRow, nowMs: number): KeyRow {
  if (row.fileState === "removed") return row;
  if (row.revokeTimeMs !== null) return releasedKey(row);
  return changedByFile({ ...row, revokeTimeMs: nowMs, fileState: "removed" });
}

/** The key that its file still names, and does not manage any more. */
export function releasedKey(row: KeyRow): KeyRow {
  return row.fileState === "managed" ? changedByFile({ ...row, fileState: "" }) : row;
}

/** Revoked, so that no file brings it back. */
export function revokedForGood(row: KeyRow, nowMs: number): KeyRow {
  if (row.revokeTimeMs === null) return { ...row, revokeTimeMs: nowMs };
  return row.fileState === "removed" ? { ...row, fileState: "" } : row;
}

function changedByFile(row: KeyRow): KeyRow {
  return searchable({ ...row, revision: row.revision + 1 });
}
