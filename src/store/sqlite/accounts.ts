/** Accounts and balances in SQLite. */
import {
  ACCOUNT,
  BALANCE,
  type BalanceColumns,
  accountValues,
  CORRECTED,
  type CorrectedColumns,
  INSERT_ACCOUNT,
  RECALL_LEASES,
  newAccountValues,
  toAccount,
  toListedAccount,
  toBalance,
  UPDATE_ACCOUNT,
  withFreeze,
  withSettings,
} from "../account-rows.js";
import type { AccountColumns } from "../columns.js";
import {
  type AccountCursor,
  type AccountFilter,
  type AccountQuery,
  accountQuery,
  type ListedAccount,
} from "../account-list.js";
import type { Act } from "../../audit/act.js";
import { accountEvent } from "../account-rows.js";
import type { SqliteAudit } from "./audit.js";
import type { Sqlite, Statement } from "./binding.js";
import type { AccountChange, AccountRow, BalanceRow, Freeze, NewAccountRow } from "../store.js";

export class SqliteAccounts {
  readonly #insert;
  readonly #update;
  readonly #recall;
  readonly #get;
  /** One for each combination of order and filters, of which there are few. */
  readonly #lists = new Map<string, Statement<[AccountQuery["values"]], ListedAccount>>();
  readonly #corrected;
  readonly #balance;

  constructor(
    private readonly database: Sqlite,
    private readonly audit: SqliteAudit,
  ) {
    this.#insert = database.prepare(INSERT_ACCOUNT);
    this.#update = database.prepare(UPDATE_ACCOUNT);
    this.#recall = database.prepare(RECALL_LEASES);
    this.#corrected = database.prepare<[string], CorrectedColumns>(CORRECTED);
    this.#get = database.prepare<[string], AccountColumns>(ACCOUNT);
    this.#balance = database.prepare<[string], BalanceColumns>(BALANCE);
  }

  /** In a transaction, as every change here: its record is written with it. */
  create(account: NewAccountRow, act: Act): boolean {
    if (this.#insert.run(...newAccountValues(account)).changes !== 1) return false;
    this.audit.append(accountEvent(act, undefined, this.get(account.id)));
    return true;
  }

  setSettings(id: string, settings: AccountChange, etag: string, act: Act): AccountRow | "stale" | undefined {
    const account = this.get(id);
    if (account === undefined) return undefined;
    if (etag !== "" && etag !== account.etag) return "stale";
    return this.#change(account, withSettings(account, settings), act);
  }

  setFreeze(id: string, freeze: Freeze | null, act: Act): AccountRow | undefined {
    const account = this.get(id);
    return account && this.#change(account, withFreeze(account, freeze), act);
  }

  get(id: string): AccountRow | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  list(filter: AccountFilter, count: number, after: AccountCursor | undefined): AccountRow[] {
    const { text, values } = accountQuery(filter, count, after);
    let statement = this.#lists.get(text);
    if (statement === undefined) {
      statement = this.database.prepare<[AccountQuery["values"]], ListedAccount>(text);
      this.#lists.set(text, statement);
    }
    return statement.all(values).map(toListedAccount);
  }

  balance(accountId: string): BalanceRow | undefined {
    const row = this.#balance.get(accountId);
    return row && toBalance(row, this.#corrected.all(accountId));
  }

  #change(before: AccountRow, account: AccountRow, act: Act): AccountRow {
    this.#update.run(...accountValues(account), account.id);
    this.#recall.run(account.id);
    this.audit.append(accountEvent(act, before, account));
    return account;
  }
}
