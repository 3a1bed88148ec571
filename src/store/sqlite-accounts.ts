/** Accounts, balances and entries in SQLite. */
import type { AccountColumns, TransferColumns } from "./sqlite-columns.js";
import type { Sqlite } from "./sqlite-file.js";
import type { AccountRow, BalanceRow, EntryRow } from "./store.js";

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
  readonly #entries;

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
    this.#entries = database.prepare<[string, number, number], TransferColumns>(
      "SELECT * FROM transfer WHERE account_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
    );
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

  entries(accountId: string, count: number, beforeSequence: number | undefined): EntryRow[] {
    return this.#entries.all(accountId, beforeSequence ?? Number.MAX_SAFE_INTEGER, count).map(toEntry);
  }
}

function toAccount(row: NamedColumns): AccountRow {
  return { id: row.id, name: row.name, createTimeMs: Number(row.create_time_ms) };
}

function toEntry(row: TransferColumns): EntryRow {
  const { pending_nanos: pendingNanos, posted_nanos: postedNanos } = row;
  return {
    id: row.id,
    kind: row.kind,
    sequence: Number(row.sequence),
    // What a hold set aside, what a void or an expiry freed, what all others paid.
    amountNanos:
      row.kind === "hold" ? pendingNanos : row.kind === "void" || row.kind === "expire" ? -pendingNanos : postedNanos,
    availableChangeNanos: availableChange(row),
    requestId: row.request_id,
    createTimeMs: Number(row.create_time_ms),
  };
}

/** An overage concerns the account, but the operator pays it. */
function availableChange(row: TransferColumns): bigint {
  if (row.credit_account === row.account_id) return row.posted_nanos;
  return row.debit_account === row.account_id ? -row.pending_nanos - row.posted_nanos : 0n;
}
