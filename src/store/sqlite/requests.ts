/** Requests, running and done, and sums of their usage, in SQLite. */
import assert from "node:assert/strict";
import { SOURCE_UNSPECIFIED } from "../../ledger/rows.js";
import { REQUESTS, type RequestColumns, costOf, endTimeOf, stateOf } from "./columns.js";
import type { SummaryCursor } from "./calls.js";
import type { Sqlite } from "./binding.js";
import type { DaySpan, OutputSum, RequestRow, UsageSum, UsageSummaryRow } from "../store.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "../token-columns.js";

const NEWEST_FIRST = "hold.sequence < :before ORDER BY hold.sequence DESC LIMIT :count";
const NEWEST_OF_ACCOUNT = `hold.account_id = :accountId AND hold.account_sequence < :before
  ORDER BY hold.account_sequence DESC LIMIT :count`;

const DAYS = "FROM usage_day WHERE day BETWEEN :fromDay AND :toDay";
const OF_ACCOUNT = "AND account_id = :accountId";
const SUMMARY = `SELECT day, account_id, key_id, model, request_count, cost_nanos, refunded_nanos,
  operator_cost_nanos, margin_nanos, ${TOKEN_COLUMNS.join(", ")} ${DAYS}
  AND (day, account_id, key_id, model) > (:afterDay, :afterAccount, :afterKey, :afterModel)`;
const SUMMARY_ORDER = "ORDER BY day, account_id, key_id, model LIMIT :count";
const SUMS = ["request_count", "cost_nanos", "refunded_nanos", "operator_cost_nanos", "margin_nanos"];
const TOTAL_COLUMNS = [...SUMS, ...TOKEN_COLUMNS].map((column) => `coalesce(sum(${column}), 0) AS ${column}`);
const TOTAL = `SELECT ${TOTAL_COLUMNS.join(", ")} ${DAYS}`;

const OUTPUT = `SELECT coalesce(sum(request_count), 0) AS request_count,
  coalesce(sum(output_tokens + reasoning_tokens + audio_output_tokens), 0) AS output_tokens
  FROM usage_day WHERE account_id = ? AND day >= ? AND model = ?`;

type PageParameters = { readonly before: number; readonly count: number; readonly accountId: string };
type DayParameters = DaySpan & { readonly accountId: string };
type SummaryParameters = DayParameters & {
  readonly count: number;
  readonly afterDay: string;
  readonly afterAccount: string;
  readonly afterKey: string;
  readonly afterModel: string;
};

interface SumColumns extends TokenColumns {
  readonly request_count: bigint;
  readonly cost_nanos: bigint;
  readonly refunded_nanos: bigint;
  readonly operator_cost_nanos: bigint;
  readonly margin_nanos: bigint;
}

interface DayColumns extends SumColumns {
  readonly day: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
}

export class SqliteRequests {
  readonly #get;
  readonly #list;
  readonly #listOfAccount;
  readonly #summary;
  readonly #summaryOfAccount;
  readonly #total;
  readonly #totalOfAccount;
  readonly #output;

  constructor(database: Sqlite) {
    this.#output = database.prepare<[string, string, string], { request_count: bigint; output_tokens: bigint }>(OUTPUT);
    this.#get = database.prepare<[string], RequestColumns>(`${REQUESTS} WHERE hold.request_id = ?`);
    this.#list = database.prepare<[PageParameters], RequestColumns>(`${REQUESTS} WHERE ${NEWEST_FIRST}`);
    this.#listOfAccount = database.prepare<[PageParameters], RequestColumns>(`${REQUESTS} WHERE ${NEWEST_OF_ACCOUNT}`);
    this.#summary = database.prepare<[SummaryParameters], DayColumns>(`${SUMMARY} ${SUMMARY_ORDER}`);
    this.#summaryOfAccount = database.prepare<[SummaryParameters], DayColumns>(
      `${SUMMARY} ${OF_ACCOUNT} ${SUMMARY_ORDER}`,
    );
    this.#total = database.prepare<[DayParameters], SumColumns>(TOTAL);
    this.#totalOfAccount = database.prepare<[DayParameters], SumColumns>(`${TOTAL} ${OF_ACCOUNT}`);
  }

  get(id: string): RequestRow | undefined {
    const row = this.#get.get(id);
    return row && toRequest(row);
  }

  list(accountId: string | undefined, count: number, beforeSequence: number | undefined): RequestRow[] {
    const statement = accountId === undefined ? this.#list : this.#listOfAccount;
    const before = beforeSequence ?? Number.MAX_SAFE_INTEGER;
    return statement.all({ before, count, accountId: accountId ?? "" }).map(toRequest);
  }

  summarize(
    accountId: string | undefined,
    days: DaySpan,
    count: number,
    after: SummaryCursor | undefined,
  ): UsageSummaryRow[] {
    const statement = accountId === undefined ? this.#summary : this.#summaryOfAccount;
    const [afterDay, afterAccount, afterKey, afterModel] = after ?? ["", "", "", ""];
    const cursor = { afterDay, afterAccount, afterKey, afterModel, count };
    return statement.all({ ...days, ...cursor, accountId: accountId ?? "" }).map(toSummary);
  }

  total(accountId: string | undefined, days: DaySpan): UsageSum {
    const statement = accountId === undefined ? this.#total : this.#totalOfAccount;
    const row = statement.get({ ...days, accountId: accountId ?? "" });
    assert(row !== undefined, "a sum over no rows is a row");
    return toSum(row);
  }

  outputOf(accountId: string, model: string, fromDay: string): OutputSum {
    const row = this.#output.get(accountId, fromDay, model);
    return { requestCount: Number(row?.request_count ?? 0n), outputTokens: Number(row?.output_tokens ?? 0n) };
  }
}

function toRequest(row: RequestColumns): RequestRow {
  return {
    id: row.request_id,
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
    usage: usageOf(row),
    usageSource: row.usage_source === null ? SOURCE_UNSPECIFIED : Number(row.usage_source),
    attempts: Number(row.attempts),
    attemptLog: row.attempt_log,
    price: row.price,
    createTimeMs: Number(row.create_time_ms),
    endTimeMs: endTimeOf(row),
  };
}

function toSummary(row: DayColumns): UsageSummaryRow {
  return {
    day: row.day,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    ...toSum(row),
  };
}

function toSum(row: SumColumns): UsageSum {
  return {
    requestCount: Number(row.request_count),
    usage: usageOf(row),
    costNanos: row.cost_nanos,
    refundedNanos: row.refunded_nanos,
    operatorCostNanos: row.operator_cost_nanos,
    marginNanos: row.margin_nanos,
  };
}
