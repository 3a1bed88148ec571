/** Alerts, events and deliveries in SQLite. */
import type { AuditEvent } from "../../audit/act.js";
import { ALERT_STATEMENTS, type AlertStatement, type AlertStep, type StepRows } from "../alert-statements.js";
import { withoutNul } from "../nul-escape.js";
import type { SqliteAudit } from "./audit.js";
import type { Sqlite, Statement } from "./binding.js";

type Row = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, unknown>>;

export class SqliteAlerts {
  readonly #database: Sqlite;
  /** Prepared when they are first asked for: most gateways have few alerts. */
  readonly #statements = new Map<AlertStatement, Statement<[Values], Row>>();
  readonly #run;

  constructor(database: Sqlite, audit: SqliteAudit) {
    this.#database = database;
    this.#run = database.transaction((steps: readonly AlertStep[], event: AuditEvent | undefined) => {
      const rows = steps.map((step) => this.#rows(step));
      if (event !== undefined && (rows[0]?.length ?? 0) > 0) audit.append(event);
      return rows;
    });
  }

  run(steps: readonly AlertStep[], event: AuditEvent | undefined): StepRows {
    return this.#run(steps, event);
  }

  #rows({ statement: name, values }: AlertStep): readonly Row[] {
    let statement = this.#statements.get(name);
    if (statement === undefined) {
      statement = this.#database.prepare<[Values], Row>(ALERT_STATEMENTS[name]);
      this.#statements.set(name, statement);
    }
    const bound = Object.entries(values).map(([key, value]) => [
      key,
      typeof value === "string" ? withoutNul(value) : value,
    ]);
    return statement.all(Object.fromEntries(bound));
  }
}
