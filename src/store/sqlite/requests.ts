/** Requests, running and done, and sums of their usage, in SQLite. */
import assert from "node:assert/strict";
import type { SummaryCursor } from "../calls.js";
import type { RequestColumns } from "../columns.js";
import {
  type DayColumns,
  type DayParameters,
  NEWEST_REQUESTS,
  NEWEST_REQUESTS_OF_ACCOUNT,
  type OutputColumns,
  type OutputParameters,
  type PageParameters,
  pageParameters,
  REQUEST,
  RUNNING_REQUESTS,
  RUNNING_REQUESTS_OF_ACCOUNT,
  type RunningParameters,
  type SumColumns,
  type SummaryParameters,
  summaryParameters,
  toOutput,
  toRequest,
  toSum,
  toSummary,
  USAGE_DAYS,
  USAGE_DAYS_OF_ACCOUNT,
  USAGE_OUTPUT,
  USAGE_TOTAL,
  USAGE_TOTAL_OF_ACCOUNT,
} from "../request-rows.js";
import type { Sqlite } from "./binding.js";
import type { DaySpan, OutputSum, RequestRow, UsageSum, UsageSummaryRow } from "../store.js";

export class SqliteRequests {
  readonly #get;
  readonly #list;
  readonly #listOfAccount;
  readonly #running;
  readonly #runningOfAccount;
  readonly #summary;
  readonly #summaryOfAccount;
  readonly #total;
  readonly #totalOfAccount;
  readonly #output;

  constructor(database: Sqlite) {
    this.#output = database.prepare<[OutputParameters], OutputColumns>(USAGE_OUTPUT);
    this.#get = database.prepare<[string], RequestColumns>(REQUEST);
    this.#list = database.prepare<[PageParameters], RequestColumns>(NEWEST_REQUESTS);
    this.#listOfAccount = database.prepare<[PageParameters], RequestColumns>(NEWEST_REQUESTS_OF_ACCOUNT);
    this.#running = database.prepare<[RunningParameters], RequestColumns>(RUNNING_REQUESTS);
    this.#runningOfAccount = database.prepare<[RunningParameters], RequestColumns>(RUNNING_REQUESTS_OF_ACCOUNT);
    this.#summary = database.prepare<[SummaryParameters], DayColumns>(USAGE_DAYS);
    this.#summaryOfAccount = database.prepare<[SummaryParameters], DayColumns>(USAGE_DAYS_OF_ACCOUNT);
    this.#total = database.prepare<[DayParameters], SumColumns>(USAGE_TOTAL);
    this.#totalOfAccount = database.prepare<[DayParameters], SumColumns>(USAGE_TOTAL_OF_ACCOUNT);
  }

  get(id: string): RequestRow | undefined {
    const row = this.#get.get(id);
    return row && toRequest(row);
  }

  list(accountId: string | undefined, count: number, beforeSequence: number | undefined): RequestRow[] {
    const statement = accountId === undefined ? this.#list : this.#listOfAccount;
    return statement.all(pageParameters(accountId, count, beforeSequence)).map(toRequest);
  }

  running(accountId: string | undefined, count: number): RequestRow[] {
    const statement = accountId === undefined ? this.#running : this.#runningOfAccount;
    return statement.all({ accountId: accountId ?? "", count }).map(toRequest);
  }

  summarize(
    accountId: string | undefined,
    days: DaySpan,
    count: number,
    after: SummaryCursor | undefined,
  ): UsageSummaryRow[] {
    const statement = accountId === undefined ? this.#summary : this.#summaryOfAccount;
    return statement.all(summaryParameters(accountId, days, count, after)).map(toSummary);
  }

  total(accountId: string | undefined, days: DaySpan): UsageSum {
    const statement = accountId === undefined ? this.#total : this.#totalOfAccount;
    const row = statement.get({ ...days, accountId: accountId ?? "" });
    assert(row !== undefined, "a sum over no rows is a row");
    return toSum(row);
  }

  outputOf(accountId: string, model: string, fromDay: string): OutputSum {
    return toOutput(this.#output.get({ accountId, model, fromDay }));
  }
}
