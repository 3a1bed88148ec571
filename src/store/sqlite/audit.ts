/** The audit log in SQLite. */
import assert from "node:assert";
import type { AuditEvent } from "../../audit/act.js";
import { AUDIT_HEAD, type AuditHead, INSERT_AUDIT, MOVE_AUDIT_HEAD, nextAudit } from "../audit-rows.js";
import type { Sqlite } from "./binding.js";

export class SqliteAudit {
  readonly #head;
  readonly #move;
  readonly #insert;

  constructor(database: Sqlite) {
    this.#head = database.prepare<[], AuditHead>(AUDIT_HEAD);
    this.#move = database.prepare(MOVE_AUDIT_HEAD);
    this.#insert = database.prepare(INSERT_AUDIT);
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
