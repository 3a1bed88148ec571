/** Balances, spending and last uses in SQLite. */
import { BALANCE, type BalanceColumns } from "../account-rows.js";
import {
  type AccountFigureRow,
  ADD_OPERATOR_COST,
  type Buckets,
  type KeyFigureRow,
  type KeyUse,
  LAST_USE,
  leasedByKey,
  type LeasedColumns,
  NOTE_USE,
  OPERATOR_COST,
  type OperatorCost,
  SPENT,
  type Spent,
  type SpentColumns,
  toAccountFigures,
  toSpent,
} from "../figures.js";
import type { Sqlite } from "./binding.js";

export class SqliteFigures {
  readonly #balance;
  readonly #spent;
  readonly #leased;
  readonly #lastUse;
  readonly #note;
  readonly #addCosts;

  constructor(database: Sqlite) {
    this.#balance = database.prepare<[string], BalanceColumns>(BALANCE);
    this.#spent = database.prepare<[string, string, string, string], SpentColumns>(SPENT);
    this.#leased = database.prepare<[string], LeasedColumns>(leasedByKey("IN (SELECT value FROM json_each(?))"));
    this.#lastUse = database.prepare<[string], bigint>(LAST_USE).pluck();
    const note = database.prepare(NOTE_USE);
    this.#note = database.transaction((uses: readonly KeyUse[]) => {
      for (const { keyId, timeMs } of uses) note.write(keyId, Math.floor(timeMs));
    });
    const add = database.prepare(ADD_OPERATOR_COST);
    const sum = database.prepare<[string, string], bigint>(OPERATOR_COST).pluck();
    this.#addCosts = database.transaction((costs: readonly OperatorCost[]) =>
      costs.map(({ subject, bucket, costNanos }) => {
        if (costNanos !== 0n) add.write(subject, bucket, costNanos);
        return { subject, bucket, costNanos: sum.get(subject, bucket) ?? 0n };
      }),
    );
  }

  ofAccounts(ids: readonly string[], buckets: Buckets): AccountFigureRow[] {
    return ids.flatMap((id) => {
      const row = this.#balance.get(id);
      return row === undefined ? [] : [toAccountFigures(row, this.#spentOf("account", id, buckets))];
    });
  }

  ofKeys(ids: readonly string[], buckets: Buckets): KeyFigureRow[] {
    const leased = new Map(this.#leased.all(JSON.stringify(ids)).map(({ key_id, nanos }) => [key_id, nanos]));
    return ids.map((id) => {
      const last = this.#lastUse.get(id);
      const lastUseTimeMs = last === undefined ? undefined : Number(last);
      return { id, lastUseTimeMs, spent: this.#spentOf("key", id, buckets, leased.get(id)) };
    });
  }

  noteUses(uses: readonly KeyUse[]): void {
    this.#note(uses);
  }

  addOperatorCosts(costs: readonly OperatorCost[]): OperatorCost[] {
    return this.#addCosts(costs);
  }

  #spentOf(owner: "account" | "key", id: string, { day, month }: Buckets, leasedNanos = 0n): Spent {
    return toSpent(this.#spent.all(owner, id, day, month), leasedNanos);
  }
}
