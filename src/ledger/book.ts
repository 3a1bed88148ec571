/** The rows of one batch in memory, with what changed in them, and the rules that no change may break. */
import assert from "node:assert";
import { AMOUNT_NANOS_MAX } from "../money.js";
import type { Account, BudgetRow, HoldRow, Period, UsageRow } from "./rows.js";
import { PERIODS, available, bucketOf, budgetName, isOperator } from "./rows.js";
import { CHAIN_START, type ChainHead, type Transfer, type TransferContent, linkTransfer } from "./transfer.js";

/** The most that all credits may come to, and all overage. Their sum bounds every account, and fits in int64. */
export const TOTAL_NANOS_MAX = 4n * AMOUNT_NANOS_MAX;

/**
 * What a batch needs and does. A driver puts the rows in, the operations are decided over it in order, and the driver
 * writes the changes, all in one transaction. A row that was not put in does not exist.
 */
export class Book {
  readonly accounts = new Map<string, Account>();
  readonly holds = new Map<string, HoldRow>();
  readonly budgets = new Map<string, BudgetRow>();
  /** Until when each node's lease runs. */
  readonly leases = new Map<string, number>();
  /** Credits by credit id. */
  readonly credits = new Map<string, Transfer>();
  head: ChainHead = CHAIN_START;

  readonly changedAccounts = new Set<Account>();
  readonly createdHolds = new Set<HoldRow>();
  readonly changedHolds = new Set<HoldRow>();
  readonly changedBudgets = new Set<BudgetRow>();
  readonly changedLeases = new Map<string, number>();
  readonly transfers: Transfer[] = [];
  readonly usages: UsageRow[] = [];

  /** The customer's account of this id, where there is one. */
  customer(id: string): Account | undefined {
    return isOperator(id) ? undefined : this.accounts.get(id);
  }

  account(id: string): Account {
    const account = this.accounts.get(id);
    assert(account !== undefined, `the account ${id} was not loaded`);
    return account;
  }

  /** The key's counters for a period. Before a key's first hold there is no row, and it stands at zero. */
  budget(keyId: string, period: Period, timeMs: number): BudgetRow {
    const bucket = bucketOf(period, timeMs);
    const name = budgetName(keyId, period, bucket);
    let row = this.budgets.get(name);
    if (row === undefined) {
      row = { keyId, period, bucket, pendingNanos: 0n, spentNanos: 0n };
      this.budgets.set(name, row);
    }
    return row;
  }

  /** Appends a transfer and moves its money. */
  transfer(causeId: string, content: TransferContent): Transfer {
    const transfer = linkTransfer(this.head, causeId, content);
    const debit = this.account(content.debitAccount);
    const credit = this.account(content.creditAccount);
    debit.debitsPending += content.pendingNanos;
    debit.debitsPosted += content.postedNanos;
    credit.creditsPending += content.pendingNanos;
    credit.creditsPosted += content.postedNanos;
    checkAccount(debit);
    checkAccount(credit);
    this.changedAccounts.add(debit).add(credit);
    this.head = transfer;
    this.transfers.push(transfer);
    return transfer;
  }

  addHold(hold: HoldRow): void {
    assert(!this.holds.has(hold.requestId), `the hold ${hold.requestId} exists`);
    this.holds.set(hold.requestId, hold);
    this.createdHolds.add(hold);
  }

  /** Counts a change of a hold's money in every period of its key, whether the key has such a budget today or not. */
  count(hold: HoldRow, pendingNanos: bigint, spentNanos: bigint): void {
    for (const period of PERIODS) {
      const row = this.budget(hold.keyId, period, hold.createTimeMs);
      row.pendingNanos += pendingNanos;
      row.spentNanos += spentNanos;
      assert(row.pendingNanos >= 0n && row.spentNanos >= 0n, `a budget of the key ${hold.keyId} is below zero`);
      this.changedBudgets.add(row);
    }
  }

  markHold(hold: HoldRow): void {
    // A hold that this batch made is written whole, with all that happened to it since.
    if (!this.createdHolds.has(hold)) this.changedHolds.add(hold);
  }
}

function checkAccount(account: Account): void {
  const sums = [account.debitsPending, account.debitsPosted, account.creditsPending, account.creditsPosted];
  assert(
    sums.every((sum) => sum >= 0n && sum <= 2n * TOTAL_NANOS_MAX),
    `the sums of the account ${account.id} are out of bounds`,
  );
  assert(isOperator(account.id) || available(account) >= 0n, `the account ${account.id} is below zero`);
}
