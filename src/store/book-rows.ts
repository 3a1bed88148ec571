/** Rows of the ledger's book, as every driver reads and writes them. */
import { AccountSettings, CreditPeriod } from "../../gen/tollgate/v1/account_service.js";
import type { Account, Budget, BudgetRow, CreditLine, HoldRow, LineGrant, LinePeriod } from "../ledger/rows.js";
import type { MoneyLeaseRow } from "../ledger/rows.js";
import { type DigestedValue, digestOf, hexOf } from "./digest.js";
import { metersValue, tokensOf } from "./token-columns.js";

/** What is older is archived, or was to be. */
export const ARCHIVED_UNTIL = "SELECT max(until_ms) AS until_ms FROM archive";

const LINE_PERIODS: Readonly<Partial<Record<CreditPeriod, LinePeriod>>> = {
  [CreditPeriod.CREDIT_PERIOD_DAY]: "day",
  [CreditPeriod.CREDIT_PERIOD_WEEK]: "week",
  [CreditPeriod.CREDIT_PERIOD_MONTH]: "month",
  [CreditPeriod.CREDIT_PERIOD_QUARTER]: "quarter",
};

/** What the ledger needs of an account. */
export interface BookAccountColumns {
  readonly id: string;
  readonly budget_day_nanos: bigint;
  readonly budget_month_nanos: bigint;
  readonly budget_total_nanos: bigint;
  readonly request_cost_max_nanos: bigint;
  readonly model_limits: Uint8Array;
  readonly line_start_day: string;
  readonly line_amount_nanos: bigint;
  readonly line_spent_nanos: bigint;
  readonly line_used_up_nanos: bigint;
  readonly frozen_time_ms: bigint | null;
  readonly debits_pending: bigint;
  readonly debits_posted: bigint;
  readonly credits_posted: bigint;
  readonly debited_nanos: bigint;
  readonly short: bigint;
  readonly chain_sequence: bigint;
  readonly chain_hash: Uint8Array;
}

export function toBookAccount(row: BookAccountColumns): Account {
  // Nearly all accounts have none of the settings in it.
  const rest = row.model_limits.length === 0 ? undefined : AccountSettings.decode(row.model_limits);
  return {
    id: row.id,
    budgets: budgetsOf(row, rest),
    requestCostMaxNanos: row.request_cost_max_nanos,
    creditLine: lineOf(rest?.creditLine),
    lineGrant: grantOf(row),
    debitsPending: row.debits_pending,
    debitsPosted: row.debits_posted,
    creditsPosted: row.credits_posted,
    debitedNanos: row.debited_nanos,
    frozen: row.frozen_time_ms !== null,
    short: row.short === 1n,
    chainSequence: Number(row.chain_sequence),
    chainHash: hexOf(row.chain_hash),
    changed: false,
  };
}

export interface LeaseColumns {
  readonly id: string;
  readonly node_id: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly create_time_ms: bigint;
  readonly rest_nanos: bigint;
  readonly recalled: bigint;
}

export function toLease(row: LeaseColumns, counters: readonly BudgetRow[]): MoneyLeaseRow {
  return {
    id: row.id,
    nodeId: row.node_id,
    accountId: row.account_id,
    keyId: row.key_id,
    createTimeMs: Number(row.create_time_ms),
    counters,
    restNanos: row.rest_nanos,
    recalled: row.recalled === 1n,
    changed: false,
  };
}

function lineOf(said: AccountSettings["creditLine"]): CreditLine | undefined {
  const period = said && LINE_PERIODS[said.period];
  return said === undefined || period === undefined ? undefined : { amountNanos: said.amountNanos, period };
}

function grantOf(row: BookAccountColumns): LineGrant | undefined {
  const { line_start_day: startDay, line_amount_nanos: amountNanos, line_spent_nanos: spentNanos } = row;
  return startDay === "" ? undefined : { startDay, amountNanos, spentNanos, usedUpNanos: row.line_used_up_nanos };
}

/** Zero is no budget. */
function budgetsOf(row: BookAccountColumns, rest: AccountSettings | undefined): Budget[] {
  const budgets: Budget[] = [
    { period: "day", limitNanos: row.budget_day_nanos },
    { period: "week", limitNanos: rest?.budgetWeekNanos ?? 0n },
    { period: "month", limitNanos: row.budget_month_nanos },
    { period: "quarter", limitNanos: rest?.budgetQuarterNanos ?? 0n },
    { period: "total", limitNanos: row.budget_total_nanos },
  ];
  return budgets.filter(({ limitNanos }) => limitNanos > 0n);
}

/** By which the proof finds a checkpoint that was changed. */
export function checkpointDigest({
  sequence,
  costNanos,
  operatorCostNanos,
  upstream,
  attempts,
  usage,
}: HoldRow): Buffer {
  const meters = metersValue(usage);
  // By the number of values the proof knows which of them they are.
  const known: DigestedValue[] = operatorCostNanos === undefined && meters === null ? [] : [operatorCostNanos ?? null];
  if (meters !== null) known.push(meters);
  return digestOf(sequence, costNanos, upstream, attempts, ...tokensOf(usage), ...known);
}
