/** The audit log in PostgreSQL: one chain for all nodes. */
import assert from "node:assert";
import type { AuditEvent } from "../../audit/act.js";
import type { AsyncTableCalls } from "../calls.js";
import {
  AUDIT_HEAD,
  type AuditColumns,
  type AuditHead,
  type AuditQuery,
  auditQuery,
  INSERT_AUDIT,
  MOVE_AUDIT_HEAD,
  nextAudit,
  toAudit,
} from "../audit-rows.js";
import type { Postgres, Session } from "./connection.js";
import { namedSql, sql } from "./sql.js";

const STATEMENTS = {
  head: sql(`${AUDIT_HEAD} FOR UPDATE`),
  move: sql(MOVE_AUDIT_HEAD),
  insert: sql(INSERT_AUDIT),
} as const;

/**
 * Adds records behind the last one, in the transaction of the changes that they tell. It is the last thing that the
 * transaction does: whoever has the end of the chain waits for no other row, so that no two wait for each other. All
 * records go out at once: every other node waits as long as this one has the end of the chain.
 */
export async function appendAudit(session: Session, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  let [head] = await session.rows<AuditHead>(STATEMENTS.head);
  assert(head !== undefined, "the audit log does not say where it ends");
  const written: Promise<number>[] = [];
  for (const event of events) {
    const next = nextAudit(head, event);
    written.push(session.run(STATEMENTS.insert, next.values));
    head = next.head;
  }
  written.push(session.run(STATEMENTS.move, [head.sequence, head.hash]));
  await Promise.all(written);
}

export function auditCalls(database: Postgres): Pick<AsyncTableCalls, "appendAudit" | "auditEvents"> {
  return {
    auditEvents: async (filter, count, beforeSequence) => {
      const { text, values } = auditQuery(filter, count, beforeSequence);
      const statement = namedSql<AuditQuery["values"]>(text);
      return (await database.rows<AuditColumns>(statement, statement.valuesOf(values))).map(toAudit);
    },
    appendAudit: (event) => database.transact((session) => appendAudit(session, [event])),
  };
}
