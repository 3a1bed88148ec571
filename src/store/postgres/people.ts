/** People in PostgreSQL: each script is one transaction. */
import { type PeopleScript, peopleScript } from "../people-store.js";
import { type Ask, AUDIT, LOCK, runScriptAsync, type ScriptRow } from "../script.js";
import type { AuditEvent } from "../../audit/act.js";
import { appendAudit } from "./audit.js";
import type { Postgres, Session } from "./connection.js";
import { type Sql, sql } from "./sql.js";

const TAKE_LOCK = sql("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))");
/** By the text of the script, which is one of a fixed number. */
const statements = new Map<string, Sql>();

export function runPeople(database: Postgres, name: PeopleScript, args: readonly unknown[]): Promise<unknown> {
  return database.transact((session) => runScriptAsync(peopleScript(name, args), (asked) => askPeople(session, asked)));
}

/** Answers one step of a script. */
export async function askPeople(session: Session, { sql: text, values }: Ask): Promise<readonly ScriptRow[]> {
  if (text === LOCK) {
    const names = values.map((name) => `tollgate people ${String(name)}`);
    await session.rows(TAKE_LOCK, names);
    return [];
  }
  if (text === AUDIT) {
    // The values are those that a script gives `audit`.
    await appendAudit(session, values as readonly AuditEvent[]);
    return [];
  }
  let statement = statements.get(text);
  if (statement === undefined) statements.set(text, (statement = sql(text)));
  return session.rows<ScriptRow>(statement, values);
}
