/** The rows that the ledger decides over: what a driver loads before a batch and writes after it. */
import { dayOf } from "../base/day.js";
import type { Usage, UsageSource } from "../api/index.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import type { ChangeableRow } from "./changed-rows.js";
import type { TableRow } from "./hold-table.js";

/**
 * The operator's side of every transfer. No customer's id has a colon. No row stores its balance, which every batch
 * would change: it is the sum of the transfers.
 */
export const OPERATOR_GRANTS = "operator:grants";
export const OPERATOR_REVENUE = "operator:revenue";
export const OPERATOR_OVERAGE = "operator:overage";
export const OPERATOR_REFUNDS = "operator:refunds";
export const OPERATOR_DEBITS = "operator:debits";
export const OPERATOR_RECEIVABLES = "operator:receivables";

/**
 * Typed by the protocol's enum, so that a changed number does not compile; the enum's module is not loaded in the
 * database's thread.
 */
export const SOURCE_UNSPECIFIED: UsageSource.USAGE_SOURCE_UNSPECIFIED = 0;
export const SOURCE_RECOVERED: UsageSource.USAGE_SOURCE_RECOVERED = 3;
export const SOURCE_NONE: UsageSource.USAGE_SOURCE_NONE = 4;

/** A customer's account: its sums, in nano-USD, each zero or more, its own budgets, and the end of its chain. */
export interface Account extends ChangeableRow {
  readonly id: string;
  readonly budgets: readonly Budget[];
  /** The most that one request may cost; zero if there is no such limit. */
  readonly requestCostMaxNanos: bigint;
  /** What it is granted again in each period. */
  readonly creditLine?: CreditLine | undefined;
  /** What its credit line granted last; absent before the first grant. */
  lineGrant?: LineGrant | undefined;
  debitsPending: bigint;
  debitsPosted: bigint;
  creditsPosted: bigint;
  /** The part of the posted debits that were corrections and not charges: no budget counts it. */
  debitedNanos: bigint;
  /** True if no new holds are allowed. */
  readonly frozen: boolean;
  /** True while too little is free for leases: each hold is exact. */
  short: boolean;
  /** How many transfers it has, and the hash of the last, in hex: buffers would cost the garbage collector more. */
  chainSequence: number;
  chainHash: string;
}

/** The money with which each period of an account starts. */
export interface CreditLine {
  readonly amountNanos: bigint;
  readonly period: LinePeriod;
}

/** The grant of a credit line for its current period. */
export interface LineGrant {
  /** The first day of the period, such as 2026-12-01. */
  readonly startDay: string;
  readonly amountNanos: bigint;
  /** What the account had spent when the period started. What it spends above that, it takes from the grant first. */
  readonly spentNanos: bigint;
  /** What the account will have spent once no money of the line is left in it, that of a lowered line included. */
  readonly usedUpNanos: bigint;
}

/** Totals over all accounts that are bounded: credits with refunds, overage, receivables. */
export type TotalKind = "granted" | "overage" | "receivable";

/** A total that is split over several rows, so that writers do not contend for one. */
export interface OperatorTotal {
  readonly kind: TotalKind;
  /** The sum of all rows, with what the batch adds. */
  nanos: bigint;
  addedNanos: bigint;
}

/** Why a correction was made, and by which actor. */
export interface Note {
  readonly reason: string;
  /** The key that requested it. */
  readonly actor: string;
}

/**
 * In place of a node, of what belongs to a job: a job outlives every node, so that no recovery and no recall ends its
 * reserve. No node has this id.
 */
export const JOB_NODE = "job";

export type HoldState = "held" | "settled" | "voided" | "expired";

/** The terms of a hold. They never change. */
export interface HoldTerms {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly nodeId: string;
  /** The lease that it was drawn from; empty if it came from the free balance. */
  readonly leaseId: string;
  /** What was requested. */
  readonly wantedNanos: bigint;
  /** What was granted. */
  readonly amountNanos: bigint;
  /** Price as protobuf bytes. */
  readonly price: Uint8Array;
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
}

/** A hold, from its request to the record of its end. */
export interface HoldRow extends HoldTerms, ChangeableRow, TableRow<HoldRow> {
  /** The sequence of its `h:` transfer. */
  readonly sequence: number;
  /**
   * The counters that include it: day, month and total of its key and of each key that created it, directly or not, and
   * day and month of its account.
   */
  readonly counters: readonly BudgetRow[];
  state: HoldState;
  /** True if recovery resolved it, so that the request itself may still settle. */
  recovered: boolean;
  /** True once there was a checkpoint. */
  noted: boolean;
  endTimeMs: number | null;
  /** What the account paid, and what the operator paid above it. */
  chargedNanos: bigint;
  overageNanos: bigint;
  /** The refunded part of the charge. */
  refundedNanos: bigint;
  /** While held: the last checkpoint. Afterwards: what was settled. */
  usage: Usage;
  costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  operatorCostNanos: bigint | undefined;
  upstream: string;
  attempts: number;
}

/**
 * Money against which one node may admit requests, or the reserve of one job: of one account, for one key, on one UTC
 * day. It is pending for the account and in all counters of that key; a hold that is drawn from it takes over its part.
 */
export interface MoneyLeaseRow extends ChangeableRow {
  readonly id: string;
  readonly nodeId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly createTimeMs: number;
  readonly counters: readonly BudgetRow[];
  restNanos: bigint;
  /** True once it is recalled. */
  recalled: boolean;
}

/** The periods that have a counter of their own. */
export type CountedPeriod = "day" | "month" | "total";

/** A week or a quarter is the sum of the counters of its days or its months. */
export type Period = CountedPeriod | "week" | "quarter";

/** The periods of a credit line. */
export type LinePeriod = Exclude<Period, "total">;

/** A limit on what is held and spent in one period, by UTC days; weeks start on Monday. */
export interface Budget {
  readonly period: Period;
  readonly limitNanos: bigint;
}

/** A budget that a hold is checked against: of its key, or of a key that created it, directly or not. */
export interface KeyBudget extends Budget {
  /** Absent: the key's own. */
  readonly makerId?: string | undefined;
}

export type BudgetOwner = "key" | "account";

/**
 * What a key with all keys that it created, or an account, holds and has spent in a period. An account's total has no
 * such row: its sums say it.
 */
export interface BudgetRow extends ChangeableRow {
  readonly owner: BudgetOwner;
  readonly ownerId: string;
  readonly period: CountedPeriod;
  /** 2026-11-21, 2026-11, or empty. */
  readonly bucket: string;
  pendingNanos: bigint;
  spentNanos: bigint;
}

/** The record of one settled or voided request. Written once, never changed. */
export interface UsageRow {
  readonly hold: HoldRow;
  /** The sequence of the transfer that ended the request. */
  readonly sequence: number;
  readonly upstream: string;
  readonly attempts: number;
  /** How each attempt went, as `encodeAttempts` writes it; null if unknown. */
  readonly attemptLog: string | null;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly chargedNanos: bigint;
  readonly overageNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos: bigint | undefined;
  readonly endTimeMs: number;
}

/** How recovery released a hold. Written once, never changed. */
export interface Release {
  readonly hold: HoldRow;
  /** The sequence of the transfer that released it. */
  readonly sequence: number;
  readonly kind: "void" | "expire";
  readonly endTimeMs: number;
}

/** What one batch adds to the sums of a day, account, key and model. */
export interface UsageDay {
  readonly day: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  requestCount: number;
  costNanos: bigint;
  /** What was refunded of requests of that day. */
  refundedNanos: bigint;
  /** What the operator pays for them, and their margin, as far as known. */
  operatorCostNanos: bigint;
  marginNanos: bigint;
  readonly usage: Usage;
}

/** True for a valid amount. */
export function isAmount(nanos: bigint): boolean {
  return nanos >= 0n && nanos <= AMOUNT_NANOS_MAX;
}

/** What is free to spend, in nano-USD. */
export function available(account: Account): bigint {
  return account.creditsPosted - account.debitsPosted - account.debitsPending;
}

/** The bucket of a period that contains a time. */
export function bucketOf(period: CountedPeriod, timeMs: number): string {
  if (period === "total") return "";
  const day = dayOf(timeMs);
  return period === "day" ? day : day.slice(0, 7);
}

/** The order of a hold's counters: its key's, those of each key that created it, then its account's. */
export const KEY_PERIODS = ["day", "month", "total"] as const satisfies readonly CountedPeriod[];
export const ACCOUNT_PERIODS = ["day", "month"] as const satisfies readonly CountedPeriod[];
