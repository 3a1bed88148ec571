/** What an error of PostgreSQL, or of the way to it, means. */
import pg from "pg";
import { FailpointError } from "../../base/failpoint.js";
import { GatewayError } from "../../base/errors.js";
import { UnusableData } from "../../base/unusable-data.js";

/** A database that may not hold money, or not this program's. No retry helps: a person has to do what it says. */
export class UnusableDatabase extends UnusableData {}

/** Somebody else had the rows first, and nothing was written: the whole transaction may run again. */
const AGAIN: ReadonlySet<string> = new Set(["40001", "40P01"]);
/** What the connection keeps of a statement does not fit any more: a table changed, or the session is another. */
const FORGOTTEN: ReadonlySet<string> = new Set(["0A000", "26000"]);
/**
 * Classes of states that pass: connections, no resources, a stopping or starting server, a system error. And single
 * ones: a statement that took too long, a lock that did not come, a server that takes no writes, a session that idled.
 */
const UNAVAILABLE_CLASSES = ["08", "53", "57", "58"];
const UNAVAILABLE: ReadonlySet<string> = new Set([...AGAIN, "55P03", "25006", "25P03", "28000", "28P01", "3D000"]);

export function mayRunAgain(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return AGAIN.has(error.code) || FORGOTTEN.has(error.code);
}

/** True where a lock did not come in time. */
export function isLocked(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** True for a row that is there already. */
export function isTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505";
}

/** True where the connection is of no use any more, or may not be. */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true;
  const code = error.code ?? "";
  return (
    code === "25006" ||
    code === "25P03" ||
    FORGOTTEN.has(code) ||
    ["08", "57", "58"].some((prefix) => code.startsWith(prefix))
  );
}

/** What the rest of the program is told. What PostgreSQL itself said stands in the cause, which is only logged. */
export function refusalOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const cause = new Error(messageOf(error), { cause: error });
  return isAway(error)
    ? new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause })
    : new GatewayError("ERROR_REASON_INTERNAL", {}, { cause });
}

/** True where the server cannot be reached, or is not ready for connections yet. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(53|57P03)/.test(error.code ?? "");
  return isAway(error);
}

function isAway(error: unknown): boolean {
  if (error instanceof FailpointError) return true;
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    return UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.some((prefix) => code.startsWith(prefix));
  }
  if (!(error instanceof Error)) return false;
  // The client says of a connection that broke, or that did not come in time, in words alone.
  return isSystemError(error) || /connection|timeout|ended|queryable/i.test(error.message);
}

function isSystemError(error: Error): boolean {
  if (error instanceof AggregateError) return error.errors.some((one) => one instanceof Error && isSystemError(one));
  return "syscall" in error || ("code" in error && /^E[A-Z]+$|^ERR_(TLS|SSL|STREAM|SOCKET)/.test(String(error.code)));
}

/** Of an error that says nothing, such as one of several addresses, what its parts say. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  if (error instanceof pg.DatabaseError) return `${error.code ?? ""}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
