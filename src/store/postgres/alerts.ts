/** Alerts, events and deliveries in PostgreSQL. */
import { ALERT_STATEMENTS, type AlertStatement, type StepRows } from "../alert-statements.js";
import type { AsyncTableCalls } from "../calls.js";
import { appendAudit } from "./audit.js";
import type { Postgres } from "./connection.js";
import { type NamedSql, namedSql } from "./sql.js";

const statements = new Map<AlertStatement, NamedSql<object>>();

export function alertCalls(database: Postgres): Pick<AsyncTableCalls, "alertSteps"> {
  return {
    alertSteps: (steps, event) =>
      database.transact(async (session) => {
        const found: StepRows[number][] = [];
        for (const { statement, values } of steps) {
          const named = statementOf(statement);
          found.push(await session.rows<Record<string, unknown>>(named, named.valuesOf(values)));
        }
        if (event !== undefined && (found[0]?.length ?? 0) > 0) await appendAudit(session, [event]);
        return found;
      }),
  };
}

function statementOf(name: AlertStatement): NamedSql<object> {
  let statement = statements.get(name);
  if (statement === undefined) statements.set(name, (statement = namedSql(ALERT_STATEMENTS[name])));
  return statement;
}
