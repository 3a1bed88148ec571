/** Requests, running and done, and sums of their usage, in SQLite. */
import { SOURCE_UNSPECIFIED } from "../ledger/rows.js";
import type { TimeCursor } from "./sqlite-calls.js";
import { type HoldColumns, toTimeMs } from "./sqlite-columns.js";
import type { Sqlite } from "./sqlite-file.js";
import { FIRST_PAGE } from "./sqlite-keys.js";
import type { RequestRow, UsageSummaryRow } from "./store.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "./token-columns.js";

/** How many sums one summary gives at most. */
const SUMMARY_ROWS_MAX = 10_000;

/** A running request has no usage row yet: its hold says what is known of it. */
const REQUESTS = `SELECT hold.*, usage.usage_source FROM hold LEFT JOIN usage ON usage.request_id = hold.request_id`;
const NEWEST_FIRST = `(hold.create_time_ms, hold.request_id) < (:timeMs, :id)
  ORDER BY hold.create_time_ms DESC, hold.request_id DESC LIMIT :count`;

const SUMMARY = `SELECT day, account_id, key_id, model, request_count, cost_nanos, ${TOKEN_COLUMNS.join(", ")}
  FROM usage_day WHERE day BETWEEN :fromDay AND :toDay`;
const SUMMARY_ORDER = `ORDER BY day, account_id, key_id, model LIMIT ${SUMMARY_ROWS_MAX}`;

type RequestColumns = HoldColumns & { readonly usage_source: bigint | null };
type PageParameters = TimeCursor & { readonly count: number; readonly accountId: string };
type DayParameters = { readonly fromDay: string; readonly toDay: string; readonly accountId: string };

interface DayColumns extends TokenColumns {
  readonly day: string;
  readonly account_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly request_count: bigint;
  readonly cost_nanos: bigint;
}

export class SqliteRequests {
  readonly #get;
  readonly #list;
  readonly #listOfAccount;
  readonly #summary;
  readonly #summaryOfAccount;

  constructor(database: Sqlite) {
    this.#get = database.prepare<[string], RequestColumns>(`${REQUESTS} WHERE hold.request_id = ?`);
    this.#list = database.prepare<[PageParameters], RequestColumns>(`${REQUESTS} WHERE ${NEWEST_FIRST}`);
    this.#listOfAccount = database.prepare<[PageParameters], RequestColumns>(
      `${REQUESTS} WHERE hold.account_id = :accountId AND ${NEWEST_FIRST}`,
    );
    this.#summary = database.prepare<[DayParameters], DayColumns>(`${SUMMARY} ${SUMMARY_ORDER}`);
    this.#summaryOfAccount = database.prepare<[DayParameters], DayColumns>(
      `${SUMMARY} AND account_id = :accountId ${SUMMARY_ORDER}`,
    );
  }

  get(id: string): RequestRow | undefined {
    const row = this.#get.get(id);
    return row && toRequest(row);
  }

  list(accountId: string | undefined, count: number, before: TimeCursor | undefined): RequestRow[] {
    const statement = accountId === undefined ? this.#list : this.#listOfAccount;
    return statement.all({ ...(before ?? FIRST_PAGE), count, accountId: accountId ?? "" }).map(toRequest);
  }

  summarize(accountId: string | undefined, fromDay: string, toDay: string): UsageSummaryRow[] {
    const statement = accountId === undefined ? this.#summary : this.#summaryOfAccount;
    return statement.all({ fromDay, toDay, accountId: accountId ?? "" }).map(toSummary);
  }
}

function toRequest(row: RequestColumns): RequestRow {
  return {
    id: row.request_id,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    upstream: row.upstream,
    state: row.state,
    holdNanos: row.amount_nanos,
    costNanos: row.cost_nanos,
    chargedNanos: row.charged_nanos,
    overageNanos: row.overage_nanos,
    usage: usageOf(row),
    usageSource: row.usage_source === null ? SOURCE_UNSPECIFIED : Number(row.usage_source),
    attempts: Number(row.attempts),
    price: row.price,
    createTimeMs: Number(row.create_time_ms),
    endTimeMs: toTimeMs(row.end_time_ms),
  };
}

function toSummary(row: DayColumns): UsageSummaryRow {
  return {
    day: row.day,
    accountId: row.account_id,
    keyId: row.key_id,
    model: row.model,
    requestCount: Number(row.request_count),
    usage: usageOf(row),
    costNanos: row.cost_nanos,
  };
}
