/** The ledger's own sums by day, account, key and model. */
import type { SummarizeUsageRequest, SummarizeUsageResponse, UsageSummary } from "../../api/index.js";
import { invalid } from "../../api/check.js";
import { DAY_MS, dayOf } from "../../base/day.js";
import type { Caller } from "../../keys/caller.js";
import type { RequestStore, UsageSummaryRow } from "../../store/store.js";
import { accountFilter, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { checkDay } from "./period.js";

const DAYS_DEFAULT = 30;

export async function summarizeUsage(
  request: SummarizeUsageRequest,
  caller: Caller,
  requests: Pick<RequestStore, "summarize">,
  nowMs: number,
): Promise<SummarizeUsageResponse> {
  const { accountId, fromDay, toDay } = request;
  const account = accountFilter(caller, accountId);
  const to = toDay === "" ? dayOf(nowMs) : checkDay("to_day", toDay);
  const from = fromDay === "" ? dayOf(nowMs - DAYS_DEFAULT * DAY_MS) : checkDay("from_day", fromDay);
  if (from > to) throw invalid("from_day", "must not come after to_day");
  const days = { fromDay: from, toDay: to };
  const { rows, nextPageToken, total } = await requests.summarize(account, days, pageOf(request));
  const whole = { ...total, day: "", accountId: account ?? "", keyId: "", model: "" };
  const seen = isOperator(caller);
  return { summaries: rows.map((row) => summaryOf(row, seen)), nextPageToken, total: summaryOf(whole, seen) };
}

/** What the operator pays, and what is left for it, is nobody else's business. */
export function summaryOf(row: UsageSummaryRow, forOperator: boolean): UsageSummary {
  const { operatorCostNanos, marginNanos, ...shown } = row;
  const summary = { ...shown, requestCount: BigInt(row.requestCount) };
  return forOperator ? { ...summary, operatorCostNanos, marginNanos } : summary;
}
