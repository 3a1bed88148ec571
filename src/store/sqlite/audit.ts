/** The audit log in SQLite. */
import assert from "node:assert";
import type { AuditEvent } from "../../audit/act.js";
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
import type { AuditFilter, AuditRow } from "../store.js";
import type { Sqlite, Statement } from "./binding.js";

/** How many statements of lists are kept: there is one for each combination of filters. */
const LISTS_MAX = 100;

export class SqliteAudit {
  readonly #head;
  readonly #move;
  readonly #insert;

  readonly #lists = new Map<string, Statement<[AuditQuery["values"]], AuditColumns>>();

  constructor(private readonly database: Sqlite) {
    this.#head = database.prepare<[], AuditHead>(AUDIT_HEAD);
    this.#move = database.prepare(MOVE_AUDIT_HEAD);
    this.#insert = database.prepare(INSERT_AUDIT);
  }

  list(filter: AuditFilter, count: number, beforeSequence: number | undefined): AuditRow[] {
    const { text, values } = auditQuery(filter, count, beforeSequence);
    let statement = this.#lists.get(text);
    if (statement === undefined) {
      if (this.#lists.size >= LISTS_MAX) this.#lists.clear();
      statement = this.database.prepare<[AuditQuery["values"]], AuditColumns>(text);
      this.#lists.set(text, statement);
    }
    return statement.all(values).map(toAudit);
  }

  /** Adds a record behind the last one, in the transaction of the change that it tells. */
  append(event: AuditEvent): void {
    const head = this.#head.get();
    assert(head !== undefined, "the audit log does not say where it ends");
    const next = nextAudit(head, event);
    this.#insert.write(...next.values);
    this.#move.write(next.head.sequence, next.head.hash);
  }
}
