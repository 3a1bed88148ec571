/** Accounts and balances in SQLite. */
import {
  ACCOUNT,
  ACCOUNTS,
  BALANCE,
  type BalanceColumns,
  accountValues,
  CORRECTED,
  type CorrectedColumns,
  INSERT_ACCOUNT,
  newAccountValues,
  toAccount,
  toBalance,
  UPDATE_ACCOUNT,
  withFreeze,
  withSettings,
} from "../account-rows.js";
import type { AccountColumns } from "../columns.js";
import type { Sqlite } from "./binding.js";
import type { AccountBudgets, AccountLimits, AccountRow, BalanceRow, Freeze, NewAccountRow } from "../store.js";

export class SqliteAccounts {
  readonly #insert;
  readonly #update;
  readonly #get;
  readonly #list;
  readonly #corrected;
  readonly #balance;

  constructor(database: Sqlite) {
    this.#insert = database.prepare(INSERT_ACCOUNT);
    this.#update = database.prepare(UPDATE_ACCOUNT);
    this.#corrected = database.prepare<[string], CorrectedColumns>(CORRECTED);
    this.#get = database.prepare<[string], AccountColumns>(ACCOUNT);
    this.#balance = database.prepare<[string], BalanceColumns>(BALANCE);
    this.#list = database.prepare<[string, number], AccountColumns>(ACCOUNTS);
  }

  create(account: NewAccountRow): boolean {
    return this.#insert.run(...newAccountValues(account)).changes === 1;
  }

  setSettings(
    id: string,
    settings: Partial<AccountBudgets & AccountLimits>,
    etag: string,
  ): AccountRow | "stale" | undefined {
    const account = this.get(id);
    if (account === undefined) return undefined;
    if (etag !== "" && etag !== account.etag) return "stale";
    return this.#change(withSettings(account, settings));
  }

  setFreeze(id: string, freeze: Freeze | null): AccountRow | undefined {
    const account = this.get(id);
    return account && this.#change(withFreeze(account, freeze));
  }

  get(id: string): AccountRow | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  list(count: number, afterId: string): AccountRow[] {
    return this.#list.all(afterId, count).map(toAccount);
  }

  balance(accountId: string): BalanceRow | undefined {
    const row = this.#balance.get(accountId);
    return row && toBalance(row, this.#corrected.all(accountId));
  }

  #change(account: AccountRow): AccountRow {
    this.#update.run(...accountValues(account), account.id);
    return account;
  }
}
