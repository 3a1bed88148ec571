/** Transactions that are written once for every database: each yields its statements, and a driver runs them. */

import type { AuditEvent } from "../audit/act.js";

/** One statement with `?` for each value, as both databases take it. */
export interface Ask {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** What a row is, the script says where it asks. */
export type ScriptRow = Readonly<Record<string, unknown>>;

/** A transaction. It must ask the same of the same rows: a database may run it again. */
export type Script<Result> = Generator<Ask, Result, readonly ScriptRow[]>;

/** Asks for rows; a statement that changes something names them with RETURNING. */
export function* rows<Row>(sql: string, ...values: readonly unknown[]): Script<readonly Row[]> {
  // What the statement selects is written beside it.
  return (yield { sql, values }) as unknown as readonly Row[];
}

/** The first row; undefined where there is none. */
export function* row<Row>(sql: string, ...values: readonly unknown[]): Script<Row | undefined> {
  return (yield* rows<Row>(sql, ...values))[0];
}

/** Runs a script where each statement is answered at once. */
export function runScript<Result>(script: Script<Result>, ask: (asked: Ask) => readonly ScriptRow[]): Result {
  let step = script.next();
  while (step.done !== true) step = script.next(ask(step.value));
  return step.value;
}

/** Runs a script where each answer is waited for. */
export async function runScriptAsync<Result>(
  script: Script<Result>,
  ask: (asked: Ask) => Promise<readonly ScriptRow[]>,
): Promise<Result> {
  let step = script.next();
  while (step.done !== true) step = script.next(await ask(step.value));
  return step.value;
}

/** In the place of a statement: a lock that a script takes until it ends. One SQLite writer needs none. */
export const LOCK = "-- lock";
/** In the place of a statement: a record of the audit log. */
export const AUDIT = "-- audit";

/** Lets one script with this name run at a time. */
export function* lock(name: string): Script<void> {
  yield { sql: LOCK, values: [name] };
}

/** Adds the records of what the script changes, all at once. */
export function* audit(...events: readonly AuditEvent[]): Script<void> {
  yield { sql: AUDIT, values: events };
}
