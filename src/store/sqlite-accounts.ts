/** Accounts and balances in SQLite. */
import type { AccountColumns } from "./sqlite-columns.js";
import type { Sqlite } from "./sqlite-file.js";
import type { AccountRow, BalanceRow } from "./store.js";

interface NamedColumns {
  readonly id: string;
  readonly name: string;
  readonly create_time_ms: bigint;
}

export class SqliteAccounts {
  readonly #insert;
  readonly #get;
  readonly #list;
  readonly #sums;

  constructor(database: Sqlite) {
    this.#insert = database.prepare(
      "INSERT INTO account (id, kind, name, create_time_ms) VALUES (?, 'customer', ?, ?) ON CONFLICT DO NOTHING",
    );
    this.#get = database.prepare<[string], NamedColumns>(
      "SELECT id, name, create_time_ms FROM account WHERE id = ? AND kind = 'customer'",
    );
    this.#list = database.prepare<[string, number], NamedColumns>(
      "SELECT id, name, create_time_ms FROM account WHERE kind = 'customer' AND id > ? ORDER BY id LIMIT ?",
    );
    this.#sums = database.prepare<[string], AccountColumns>("SELECT * FROM account WHERE id = ? AND kind = 'customer'");
  }

  create(account: AccountRow): boolean {
    return this.#insert.run(account.id, account.name, account.createTimeMs).changes === 1;
  }

  get(id: string): AccountRow | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  list(count: number, afterId: string): AccountRow[] {
    return this.#list.all(afterId, count).map(toAccount);
  }

  balance(accountId: string): BalanceRow | undefined {
    const row = this.#sums.get(accountId);
    if (row === undefined) return undefined;
    return {
      availableNanos: row.credits_posted - row.debits_posted - row.debits_pending,
      heldNanos: row.debits_pending,
      spentNanos: row.debits_posted,
      grantedNanos: row.credits_posted,
    };
  }
}

function toAccount(row: NamedColumns): AccountRow {
  return { id: row.id, name: row.name, createTimeMs: Number(row.create_time_ms) };
}
