/** People in SQLite: each script is one transaction of the only writer. */
import { type PeopleScript, peopleScript } from "../people-store.js";
import { type Ask, AUDIT, LOCK, runScript, type ScriptRow } from "../script.js";
import type { AuditEvent } from "../../audit/act.js";
import type { SqliteAudit } from "./audit.js";
import type { Sqlite, Statement } from "./binding.js";

export class SqlitePeople {
  readonly #database: Sqlite;
  readonly #statements = new Map<string, Statement<unknown[], ScriptRow>>();
  readonly #audit: SqliteAudit;
  readonly #transact;

  constructor(database: Sqlite, audit: SqliteAudit) {
    this.#audit = audit;
    this.#database = database;
    this.#transact = database.transaction((name: PeopleScript, args: readonly unknown[]) =>
      runScript(peopleScript(name, args), (asked) => this.#ask(asked)),
    );
  }

  run(name: PeopleScript, args: readonly unknown[]): unknown {
    return this.#transact(name, args);
  }

  #ask({ sql, values }: Ask): readonly ScriptRow[] {
    if (sql === LOCK) return [];
    if (sql === AUDIT) {
      // The value is the one that a script gives `audit`.
      for (const event of values) this.#audit.append(event as AuditEvent);
      return [];
    }
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement.all(...values);
  }
}
