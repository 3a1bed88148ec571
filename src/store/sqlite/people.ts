/** People in SQLite: each script is one transaction of the only writer. */
import { type PeopleScript, peopleScript } from "../people-store.js";
import { type Ask, LOCK_PREFIX, runScript, type ScriptRow } from "../script.js";
import type { Sqlite, Statement } from "./binding.js";

export class SqlitePeople {
  readonly #database: Sqlite;
  readonly #statements = new Map<string, Statement<unknown[], ScriptRow>>();
  readonly #transact;

  constructor(database: Sqlite) {
    this.#database = database;
    this.#transact = database.transaction((name: PeopleScript, args: readonly unknown[]) =>
      runScript(peopleScript(name, args), (asked) => this.#ask(asked)),
    );
  }

  run(name: PeopleScript, args: readonly unknown[]): unknown {
    return this.#transact(name, args);
  }

  #ask({ sql, values }: Ask): readonly ScriptRow[] {
    if (sql === LOCK_PREFIX) return [];
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement.all(...values);
  }
}
