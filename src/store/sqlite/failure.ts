/** What an error of the database means. */
import { FailpointError } from "../../base/failpoint.js";
import type { Failure } from "./calls.js";
import { SqliteError } from "./binding.js";
import { LogSyncError } from "./wal.js";

/** The disk, or the file on it, cannot be trusted: only a restart, with recovery from the log, helps. */
const FATAL = ["SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_NOTADB"];
/** Nothing was written, and the same call may succeed later. */
const UNAVAILABLE = [
  "SQLITE_FULL",
  "SQLITE_BUSY",
  "SQLITE_LOCKED",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "SQLITE_NOMEM",
];

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof LogSyncError) return { kind: "fatal", code: "", message };
  if (error instanceof FailpointError) return { kind: "unavailable", code: "", message };
  if (!(error instanceof SqliteError)) return { kind: "broken", code: "", message };
  const is = (prefix: string): boolean => error.code.startsWith(prefix);
  const kind = FATAL.some(is) ? "fatal" : UNAVAILABLE.some(is) ? "unavailable" : "broken";
  return { kind, code: error.code, message };
}
