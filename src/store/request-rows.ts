/** Requests and sums of their usage: what is asked of a database, and what its rows say. */
import { SOURCE_UNSPECIFIED } from "../ledger/rows.js";
import { REQUESTS, type RequestColumns, costOf, endTimeOf, stateOf } from "./columns.js";
import type { SummaryCursor } from "./calls.js";
import type { DaySpan, OutputSum, RequestRow, UsageSum, UsageSummaryRow } from "./store.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "./token-columns.js";

const NEWEST_FIRST = "hold.sequence < :before ORDER BY hold.sequence DESC LIMIT :count";
const NEWEST_OF_ACCOUNT = `hold.account_id = :accountId AND hold.account_sequence < :before
  ORDER BY hold.account_sequence DESC LIMIT :count`;

const DAYS = "FROM usage_day WHERE day BETWEEN :fromDay AND :toDay";
/** The meters of rows as text, without its brackets; null for none. */
const metersOf = (rows: string): string =>
  `(SELECT string_agg('["' || unit || '","' || variant || '",' || quantity || ']', ',' ORDER BY unit, variant) FROM ${rows}) AS meters`;
const OF_DAY = `usage_day_meter AS meter WHERE (meter.day, meter.account_id, meter.key_id, meter.model) =
  (usage_day.day, usage_day.account_id, usage_day.key_id, usage_day.model)`;
const summed = (more: string): string => `(SELECT unit, variant, SUM(quantity) AS quantity FROM usage_day_meter
  WHERE day BETWEEN :fromDay AND :toDay ${more} GROUP BY unit, variant) AS meter`;
const OF_ACCOUNT = "AND account_id = :accountId";
const DAY_SUMS = `SELECT day, account_id, key_id, model, request_count, cost_nanos, refunded_nanos,
  operator_cost_nanos, margin_nanos, ${TOKEN_COLUMNS.join(", ")}, ${metersOf(OF_DAY)} ${DAYS}
  AND (day, account_id, key_id, model) > (:afterDay, :afterAccount, :afterKey, :afterModel)`;
const SUMMARY_ORDER = "ORDER BY day, account_id, key_id, model LIMIT :count";
const SUMS = ["request_count", "cost_nanos", "refunded_nanos", "operator_cost_nanos", "margin_nanos"];
const TOTAL_COLUMNS = [...SUMS, ...TOKEN_COLUMNS].map((column) => `coalesce(sum(${column}), 0) AS ${column}`);
const total = (more: string): string => `SELECT ${TOTAL_COLUMNS.join(", ")}, ${metersOf(summed(more))} ${DAYS} ${more}`;
export const USAGE_TOTAL = total("");

export const USAGE_OUTPUT = `SELECT coalesce(sum(request_count), 0) AS request_count,
  coalesce(sum(output_tokens + reasoning_tokens + audio_output_tokens), 0) AS output_tokens
  FROM usage_day WHERE account_id = :accountId AND day >= :fromDay AND model = :model`;
export const USAGE_TOTAL_OF_ACCOUNT = total(OF_ACCOUNT);
export const USAGE_DAYS = `${DAY_SUMS} ${SUMMARY_ORDER}`;
export const USAGE_DAYS_OF_ACCOUNT = `${DAY_SUMS} ${OF_ACCOUNT} ${SUMMARY_ORDER}`;

export const REQUEST = `${REQUESTS} WHERE hold.request_id = ?`;
export const NEWEST_REQUESTS = `${REQUESTS} WHERE ${NEWEST_FIRST}`;
export const NEWEST_REQUESTS_OF_ACCOUNT = `${REQUESTS} WHERE ${NEWEST_OF_ACCOUNT}`;

const OPEN = "hold.sequence IN (SELECT hold_sequence FROM open_hold)";
export const RUNNING_REQUESTS = `${REQUESTS} WHERE hold.sequence IN
  (SELECT hold_sequence FROM open_hold ORDER BY hold_sequence DESC LIMIT :count) ORDER BY hold.sequence DESC`;
export const RUNNING_REQUESTS_OF_ACCOUNT = `${REQUESTS} WHERE ${OPEN} AND hold.account_id = :accountId
  ORDER BY hold.sequence DESC LIMIT :count`;

export type RunningParameters = { readonly count: number; readonly accountId: string };
export type PageParameters = { readonly before: number; readonly count: number; readonly accountId: string };
export type DayParameters = DaySpan & { readonly accountId: string };
export type SummaryParameters = DayParameters & {
  readonly count: number;
  readonly afterDay: string;
  readonly afterAccount: string;
  readonly afterKey: string;
  readonly afterModel: string;
};

export type OutputParameters = { readonly accountId: string; readonly model: string; readonly fromDay: string };

export interface OutputColumns {
  readonly request_count: bigint;
  readonly output_tokens: bigint;
}

export interface SumColumns extends TokenColumns {
  readonly request_count: bigint;
  readonly cost_nanos: bigint;
  readonly refunded_nanos: bigint;
  readonly operator_cost_nanos: bigint;
  readonly margin_nanos: bigint;
  readonly meters: string | null;
}

export interface DayColumns extends SumColumns {
  readonly day: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
}

/** Of an account, or of all. */
export function pageParameters(
  accountId: string | undefined,
  count: number,
  beforeSequence: number | undefined,
): PageParameters {
  return { before: beforeSequence ?? Number.MAX_SAFE_INTEGER, count, accountId: accountId ?? "" };
}

export function summaryParameters(
  accountId: string | undefined,
  days: DaySpan,
  count: number,
  after: SummaryCursor | undefined,
): SummaryParameters {
  const [afterDay, afterAccount, afterKey, afterModel] = after ?? ["", "", "", ""];
  return { ...days, afterDay, afterAccount, afterKey, afterModel, count, accountId: accountId ?? "" };
}

export function toRequest(row: RequestColumns): RequestRow {
  return {
    id: row.request_id,
    holdId: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    upstream: row.upstream,
    sequence: Number(row.sequence),
    accountSequence: Number(row.account_sequence),
    state: stateOf(row),
    holdNanos: row.amount_nanos,
    costNanos: costOf(row),
    chargedNanos: row.charged_nanos ?? 0n,
    overageNanos: row.overage_nanos ?? 0n,
    operatorCostNanos: row.operator_cost_nanos ?? undefined,
    refundedNanos: row.refunded_nanos,
    usage: usageOf(row, row.meters),
    usageSource: row.usage_source === null ? SOURCE_UNSPECIFIED : Number(row.usage_source),
    attempts: Number(row.attempts),
    attemptLog: row.attempt_log,
    price: row.price,
    createTimeMs: Number(row.create_time_ms),
    endTimeMs: endTimeOf(row),
  };
}

export function toSummary(row: DayColumns): UsageSummaryRow {
  return {
    day: row.day,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    ...toSum(row),
  };
}

export function toSum(row: SumColumns): UsageSum {
  return {
    requestCount: Number(row.request_count),
    usage: usageOf(row, row.meters && `[${row.meters}]`),
    costNanos: row.cost_nanos,
    refundedNanos: row.refunded_nanos,
    operatorCostNanos: row.operator_cost_nanos,
    marginNanos: row.margin_nanos,
  };
}

export function toOutput(row: OutputColumns | undefined): OutputSum {
  return { requestCount: Number(row?.request_count ?? 0n), outputTokens: Number(row?.output_tokens ?? 0n) };
}
