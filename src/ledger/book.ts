/** The rows of one batch in memory, what changed in them, and the rules that no change may break. */
import { dayNumber } from "../base/day.js";
import assert from "node:assert";
import { NO_USAGE } from "../api/usage.js";
import { type Act, type AuditEvent, eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import { ChangedRows } from "./changed-rows.js";
import { HoldTable } from "./hold-table.js";
import type { Account, BudgetOwner, BudgetRow, CountedPeriod, HoldRow, MoneyLeaseRow, Note } from "./rows.js";
import type { OperatorTotal, Release, TotalKind, UsageDay, UsageRow } from "./rows.js";
import { ACCOUNT_PERIODS, JOB_NODE, KEY_PERIODS, SOURCE_NONE, available, bucketOf } from "./rows.js";
import { CHAIN_START, type ChainHead, linkTransfer } from "./hash-chain.js";
import { type Transfer, type TransferContent, type TransferKind, transferId } from "./transfer.js";
import { addUsage } from "./usage.js";

/** The highest sum of all credits, and of all overage. Their sum bounds every account, and fits in int64. */
export const TOTAL_NANOS_MAX = 4n * AMOUNT_NANOS_MAX;

/**
 * What a batch needs and does. A driver loads the rows, the operations are decided over them in order, and the driver
 * writes the changes, all in one transaction. A row that was not loaded does not exist. A driver that is the only
 * writer of its database may keep the book for the next batch: it calls `forgetChanges` after a batch that was written,
 * and makes a new book after one that was not.
 */
export class Book {
  readonly accounts = new Map<string, Account>();
  readonly holds = new HoldTable<HoldRow>();
  /** The number of heartbeats of each node; a node that ended has none. */
  readonly beats = new Map<string, number>();
  /** Credits by credit id. */
  readonly credits = new Map<string, Transfer>();
  /** Refunds, debits and their receivables, and the reserves of jobs, by kind and id. */
  readonly #named = new Map<string, Transfer>();
  /** The last transfer of all. If other processes write too, only its sequence counts: the driver sets the next one. */
  head: ChainHead = CHAIN_START;
  /** The highest id of any request that ever had a hold. Ids grow with time: nearly every new one is higher. */
  newestRequestId = "";
  /** What was admitted before this time is archived: if the book lacks a hold of it, that hold is not lost. */
  archivedUntilMs = 0;
  #blockEnd = Infinity;
  #furtherBlocks: { readonly start: number; readonly end: number }[] = [];
  readonly #budgets = new Map<string, BudgetRow>();
  /** The counters of each key's last hold, which are nearly always those of its next one. */
  readonly #counters = new Map<string, LastCounters>();

  readonly totals: Readonly<Record<TotalKind, OperatorTotal>> = {
    granted: { kind: "granted", nanos: 0n, addedNanos: 0n },
    overage: { kind: "overage", nanos: 0n, addedNanos: 0n },
    receivable: { kind: "receivable", nanos: 0n, addedNanos: 0n },
  };

  /** By id: those that operations name, jobs' reserves too, and all of accounts that need an exact hold or a recall. */
  readonly leases = new Map<string, MoneyLeaseRow>();

  readonly changedAccounts = new ChangedRows<Account>();
  /** Accounts whose credit lines granted something else than before. */
  readonly renewedLines = new Set<Account>();
  readonly changedBudgets = new ChangedRows<BudgetRow>();
  /** Nodes whose heartbeats changed; undefined for those that ended. */
  readonly changedBeats = new Map<string, number | undefined>();
  readonly transfers: Transfer[] = [];
  /** New leases too; one that was also ended is in both lists. */
  readonly changedLeases = new ChangedRows<MoneyLeaseRow>();
  readonly endedLeases: MoneyLeaseRow[] = [];
  /** The lease of each grant and return in the batch, in the order of their transfers. */
  readonly leaseMoves: { readonly sequence: number; readonly lease: MoneyLeaseRow }[] = [];
  readonly createdHolds: HoldRow[] = [];
  /** Holds of earlier batches that got a checkpoint. */
  readonly notedHolds = new ChangedRows<HoldRow>();
  /** Holds that were open and are no longer. */
  readonly closedHolds: HoldRow[] = [];
  /** Holds that had ended before the batch asked for them. */
  readonly pastHolds: HoldRow[] = [];
  readonly usages: UsageRow[] = [];
  /** Holds that recovery released, without a usage. */
  readonly releases: Release[] = [];
  /** The reason and the actor of each correction in the batch, in the order of their transfers. */
  readonly notes: (Note & { readonly sequence: number })[] = [];
  /** The audit records of changes to money in the batch. */
  readonly events: AuditEvent[] = [];
  /** What the batch adds to the sums of each day. */
  readonly usageDays: UsageDay[] = [];

  account(id: string): Account {
    const account = this.accounts.get(id);
    assert(account !== undefined, `the account ${id} was not loaded`);
    return account;
  }

  /** The number of counters in the book. */
  get budgetCount(): number {
    return this.#budgets.size;
  }

  /**
   * The counters for a hold of this key, account and time: day, month and total of the key and of each key that created
   * it, directly or not, and day and month of the account. `source` loads what is not in the book. Before an owner's
   * first hold there is no counter, and it starts at zero.
   */
  counters(keyId: string, accountId: string, timeMs: number, source?: CounterSource): readonly BudgetRow[] {
    const day = dayNumber(timeMs);
    const last = this.#counters.get(keyId);
    if (last !== undefined && last.day === day && last.accountId === accountId) return last.rows;
    const makerIds = last?.makerIds ?? source?.makersOf(keyId) ?? [];
    const rows: BudgetRow[] = [];
    const add = (owner: BudgetOwner, ownerId: string, periods: readonly CountedPeriod[]): void => {
      for (const period of periods) rows.push(this.budget(owner, ownerId, period, bucketOf(period, timeMs), source));
    };
    add("key", keyId, KEY_PERIODS);
    for (const makerId of makerIds) add("key", makerId, KEY_PERIODS);
    add("account", accountId, ACCOUNT_PERIODS);
    this.#counters.set(keyId, { accountId, day, makerIds, rows });
    return rows;
  }

  budget(
    owner: BudgetOwner,
    ownerId: string,
    period: CountedPeriod,
    bucket: string,
    source?: CounterSource,
  ): BudgetRow {
    const name = `${owner} ${period} ${bucket} ${ownerId}`;
    let row = this.#budgets.get(name);
    if (row === undefined) {
      row = { owner, ownerId, period, bucket, pendingNanos: 0n, spentNanos: 0n, changed: false };
      source?.load(row);
      this.#budgets.set(name, row);
    }
    return row;
  }

  /** The sequence of the next transfer. */
  get nextSequence(): number {
    assert(this.head.sequence < this.#blockEnd, "a batch has more transfers than places");
    return this.head.sequence + 1;
  }

  /**
   * If other processes write too, a batch reserves blocks of sequences: `starts` precede the first of each block, and
   * rise.
   */
  takePlaces([start = 0, ...further]: readonly number[], count: number): void {
    this.head = { sequence: start, hash: CHAIN_START.hash };
    this.#blockEnd = start + count;
    this.#furtherBlocks = further.map((next) => ({ start: next, end: next + count }));
  }

  /** How much may still be added to all credits, all overage, or all receivables. */
  roomFor(kind: TotalKind): bigint {
    return TOTAL_NANOS_MAX - this.totals[kind].nanos;
  }

  /** Appends a transfer and moves its money. `record` is what else its hash covers. */
  transfer(content: TransferContent, record: string): Transfer {
    const account = this.account(content.accountId);
    const transfer = linkTransfer(account, this.nextSequence, content, record);
    this.#move(account, transfer, content.isLeased === true);
    account.chainSequence = transfer.accountSequence;
    account.chainHash = transfer.hash;
    this.changedAccounts.add(account);
    this.head = transfer;
    if (transfer.sequence === this.#blockEnd) this.#takeBlock();
    this.transfers.push(transfer);
    return transfer;
  }

  #takeBlock(): void {
    const block = this.#furtherBlocks.shift();
    if (block === undefined) return;
    this.head = { sequence: block.start, hash: CHAIN_START.hash };
    this.#blockEnd = block.end;
  }

  #move(account: Account, { kind, pendingNanos, postedNanos }: Transfer, isLeased: boolean): void {
    switch (kind) {
      case "credit":
      case "refund":
        account.creditsPosted += postedNanos;
        this.#addToTotal("granted", postedNanos);
        break;
      case "overage":
      case "receivable":
        // It concerns the account, but the operator pays.
        this.#addToTotal(kind, postedNanos);
        break;
      default:
        if (pendingNanos !== 0n && !isLeased) account.debitsPending += pendingNanos;
        if (postedNanos !== 0n) account.debitsPosted += postedNanos;
        if (kind === "debit") account.debitedNanos += postedNanos;
    }
    checkAccount(account);
  }

  #addToTotal(kind: TotalKind, nanos: bigint): void {
    const total = this.totals[kind];
    total.nanos += nanos;
    total.addedNanos += nanos;
  }

  /** Undefined: the node ended. */
  setBeats(nodeId: string, beats: number | undefined): void {
    if (beats === undefined) this.beats.delete(nodeId);
    else this.beats.set(nodeId, beats);
    this.changedBeats.set(nodeId, beats);
  }

  addHold(hold: HoldRow): void {
    assert(this.holds.add(hold), `the hold ${hold.requestId} exists`);
    this.createdHolds.push(hold);
    if (hold.requestId > this.newestRequestId) this.newestRequestId = hold.requestId;
  }

  /** Adds a change of a hold's money to the counters of every period, whether or not such a budget exists today. */
  count(hold: Pick<HoldRow, "counters">, pendingNanos: bigint, spentNanos: bigint): void {
    for (const row of hold.counters) {
      if (pendingNanos !== 0n) row.pendingNanos += pendingNanos;
      if (spentNanos !== 0n) row.spentNanos += spentNanos;
      assert(row.pendingNanos >= 0n && row.spentNanos >= 0n, "a budget is below zero");
      this.changedBudgets.add(row);
    }
  }

  /** The leases that nodes have of an account. All of them are in the book if a hold may recall them. */
  leasesOf(accountId: string): readonly MoneyLeaseRow[] {
    if (this.leases.size === 0) return [];
    return [...this.leases.values()].filter((lease) => lease.accountId === accountId && lease.nodeId !== JOB_NODE);
  }

  /**
   * The available balance for callers, including the rest of the account's leases, which is recalled if it is needed.
   */
  toldAvailable(account: Account): bigint {
    let nanos = available(account);
    for (const lease of this.leasesOf(account.id)) nanos += lease.restNanos;
    return nanos;
  }

  addLease(lease: MoneyLeaseRow): void {
    assert(!this.leases.has(lease.id), `the lease ${lease.id} exists`);
    this.leases.set(lease.id, lease);
    this.changedLeases.add(lease);
  }

  /** Moves a part of a lease to a hold. */
  drawLease(lease: MoneyLeaseRow, amountNanos: bigint): void {
    assert(lease.restNanos >= amountNanos, "a lease is below zero");
    lease.restNanos -= amountNanos;
    this.changedLeases.add(lease);
  }

  recallLease(lease: MoneyLeaseRow): void {
    if (lease.recalled) return;
    lease.recalled = true;
    this.changedLeases.add(lease);
  }

  endLease(lease: MoneyLeaseRow): void {
    this.leases.delete(lease.id);
    this.endedLeases.push(lease);
  }

  setShort(account: Account, short: boolean): void {
    if (account.short === short) return;
    account.short = short;
    this.changedAccounts.add(account);
  }

  /** Stores the usage of a request that ended, and adds it to its day; of a free request, only the operator's cost. */
  addUsage(row: UsageRow): void {
    this.usages.push(row);
    const { operatorCostNanos } = row;
    const isFree = row.usageSource === SOURCE_NONE;
    if (isFree && (operatorCostNanos ?? 0n) === 0n) return;
    const sums = this.#usageDay(row.hold);
    if (operatorCostNanos !== undefined) {
      sums.operatorCostNanos += operatorCostNanos;
      sums.marginNanos += row.chargedNanos - operatorCostNanos;
    }
    if (isFree) return;
    sums.requestCount += 1;
    sums.costNanos += row.chargedNanos + row.overageNanos;
    addUsage(sums.usage, row.usage);
  }

  /** The refund, debit, receivable or reserve with this id, if there is one. */
  named(kind: TransferKind, id: string): Transfer | undefined {
    return this.#named.get(`${kind} ${id}`);
  }

  addNamed(transfer: Transfer): void {
    this.#named.set(`${transfer.kind} ${transfer.causeId}`, transfer);
  }

  /** Stores why a transfer was made, and finds it again by its id. */
  addNote(transfer: Transfer, { reason, actor }: Note): void {
    this.notes.push({ reason, actor, sequence: transfer.sequence });
    if (transfer.kind !== "credit") this.addNamed(transfer);
  }

  /** Records who made a transfer, on what, and the account's available balance before and after. */
  record(
    act: Act,
    transfer: Transfer,
    told: { readonly resource: string; readonly before: object; readonly after: object },
  ): void {
    const { accountId } = transfer;
    const { resource, ...change } = told;
    this.events.push(eventOf(act, { resource, accountId, transferId: transferId(transfer), ...changeOf(change) }));
  }

  /** Adds a refund to the day of its request. */
  addRefund(hold: HoldRow, amountNanos: bigint): void {
    this.#usageDay(hold).refundedNanos += amountNanos;
  }

  #usageDay({ accountId, keyId, model, createTimeMs }: HoldRow): UsageDay {
    const day = bucketOf("day", createTimeMs);
    for (const sums of this.usageDays) {
      if (sums.keyId === keyId && sums.model === model && sums.accountId === accountId && sums.day === day) return sums;
    }
    const sums = {
      day,
      accountId,
      keyId,
      model,
      requestCount: 0,
      costNanos: 0n,
      refundedNanos: 0n,
      operatorCostNanos: 0n,
      marginNanos: 0n,
      usage: { ...NO_USAGE },
    };
    this.usageDays.push(sums);
    return sums;
  }

  /** Call after the changes were written: the next batch starts without changes. At most `holdsMax` open holds stay. */
  forgetChanges(holdsMax: number): void {
    this.changedAccounts.clear();
    this.totals.granted.addedNanos = this.totals.overage.addedNanos = this.totals.receivable.addedNanos = 0n;
    this.changedBudgets.clear();
    if (this.changedBeats.size > 0) this.changedBeats.clear();
    this.transfers.length = 0;
    this.changedLeases.clear();
    if (this.leaseMoves.length > 0) this.leaseMoves.length = 0;
    if (this.endedLeases.length > 0) this.endedLeases.length = 0;
    this.createdHolds.length = 0;
    this.notedHolds.clear();
    for (const hold of this.closedHolds) this.holds.remove(hold);
    this.closedHolds.length = 0;
    for (const hold of this.pastHolds) this.holds.remove(hold);
    this.pastHolds.length = 0;
    this.usages.length = 0;
    this.releases.length = 0;
    this.usageDays.length = 0;
    if (this.credits.size > 0) this.credits.clear();
    if (this.notes.length > 0) this.notes.length = 0;
    if (this.renewedLines.size > 0) this.renewedLines.clear();
    if (this.events.length > 0) this.events.length = 0;
    if (this.#named.size > 0) this.#named.clear();
    while (this.holds.size > holdsMax && this.holds.oldest !== undefined) this.holds.remove(this.holds.oldest);
  }
}

/** Where a driver's counters come from. */
export interface CounterSource {
  /** The key that created a key, the key that created that one, and so on. This never changes. */
  makersOf(keyId: string): readonly string[];
  /** Loads the stored sums into a new row. */
  load(row: BudgetRow): void;
}

interface LastCounters {
  readonly accountId: string;
  readonly day: number;
  readonly makerIds: readonly string[];
  readonly rows: readonly BudgetRow[];
}

function checkAccount(account: Account): void {
  const { debitsPending, debitsPosted, creditsPosted } = account;
  const fits = isSum(debitsPending) && isSum(debitsPosted) && isSum(creditsPosted);
  assert(fits, "the sums of an account are out of bounds");
  assert(available(account) >= 0n, "an account is below zero");
}

function isSum(nanos: bigint): boolean {
  return nanos >= 0n && nanos <= SUM_NANOS_MAX;
}

const SUM_NANOS_MAX = 2n * TOTAL_NANOS_MAX;
