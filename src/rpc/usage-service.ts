/** UsageService: what requests used and cost. */
import { hash } from "node:crypto";
import { Price, type RequestRecord, RequestState, type UsageSummary, type UsageServiceService } from "../api/index.js";
import type { RequestRow, UsageSummaryRow } from "../store/store.js";
import { attemptsOf, servedOf } from "./attempt.js";
import { invalid, required, unknown } from "./check.js";
import type { CoreParts } from "./core.js";
import { entryOf } from "./entry.js";
import type { Handlers } from "./handler.js";
import { accountFilter, checkOwner, isOperator } from "./ownership.js";
import { pageOf } from "./page.js";
import { checkDay, DAY_MS, dayOf } from "./period.js";

const DAYS_DEFAULT = 30;
const STATES: Readonly<Record<RequestRow["state"], RequestState>> = {
  held: RequestState.REQUEST_STATE_HELD,
  settled: RequestState.REQUEST_STATE_SETTLED,
  voided: RequestState.REQUEST_STATE_VOIDED,
  expired: RequestState.REQUEST_STATE_EXPIRED,
};

type Parts = Pick<CoreParts, "store" | "nowMs" | "ledger">;

export function usageService({ store, nowMs, ledger }: Parts): Handlers<typeof UsageServiceService> {
  return {
    async getRequest({ id }, { caller }) {
      const receipt = await store.requests.receipt(required("id", id));
      if (receipt === undefined) throw unknown("request", id);
      checkOwner(caller, receipt.request.accountId, "request", id);
      return { request: recordOf(receipt.request, isOperator(caller)), entries: receipt.entries.map(entryOf) };
    },
    async refundRequest({ id, amountNanos, refundId, reason }, { caller, act }) {
      // To the ledger zero is all that is left; nobody who says zero means that.
      if (amountNanos === 0n) throw invalid("amount_nanos", "must be above 0, or left out for all that is left");
      const asked = { requestId: required("id", id), amountNanos: amountNanos ?? 0n, refundId, reason };
      const {
        amountNanos: refunded,
        availableNanos,
        repeated,
      } = await ledger.corrections.refund({
        ...asked,
        actor: caller.keyId,
        act,
      });
      return { amountNanos: refunded, availableNanos, repeatedRefund: repeated };
    },
    async listRequests(request, { caller }) {
      const page = pageOf(request);
      const { rows, nextPageToken } = await store.requests.list(accountFilter(caller, request.accountId), page);
      const shown = rows.map((row) => recordOf(row, isOperator(caller)));
      return { requests: shown, nextPageToken };
    },
    async summarizeUsage(request, { caller }) {
      const { accountId, fromDay, toDay } = request;
      const account = accountFilter(caller, accountId);
      const to = toDay === "" ? dayOf(nowMs()) : checkDay("to_day", toDay);
      const from = fromDay === "" ? dayOf(nowMs() - DAYS_DEFAULT * DAY_MS) : checkDay("from_day", fromDay);
      if (from > to) throw invalid("from_day", "must not come after to_day");
      const days = { fromDay: from, toDay: to };
      const { rows, nextPageToken, total } = await store.requests.summarize(account, days, pageOf(request));
      const whole = { ...total, day: "", accountId: account ?? "", keyId: "", model: "" };
      const seen = isOperator(caller);
      return { summaries: rows.map((row) => summaryOf(row, seen)), nextPageToken, total: summaryOf(whole, seen) };
    },
  };
}

/** What the operator pays, and what is left for it, is nobody else's business. */
function summaryOf(row: UsageSummaryRow, forOperator: boolean): UsageSummary {
  const { operatorCostNanos, marginNanos, ...shown } = row;
  const summary = { ...shown, requestCount: BigInt(row.requestCount) };
  return forOperator ? { ...summary, operatorCostNanos, marginNanos } : summary;
}

function recordOf(row: RequestRow, forOperator: boolean): RequestRecord {
  const operatorCostNanos = forOperator ? row.operatorCostNanos : undefined;
  const isOver = row.endTimeMs !== null;
  return {
    operatorCostNanos,
    marginNanos: operatorCostNanos === undefined || !isOver ? undefined : row.chargedNanos - operatorCostNanos,
    id: row.id,
    accountId: row.accountId,
    keyId: row.keyId,
    model: row.model,
    upstream: row.upstream,
    state: STATES[row.state],
    holdNanos: row.holdNanos,
    costNanos: row.costNanos,
    usage: row.usage,
    usageSource: row.usageSource,
    attempts: row.attempts,
    price: Price.decode(row.price),
    priceVersion: priceVersion(row.price),
    chargedNanos: row.chargedNanos,
    overageNanos: row.overageNanos,
    refundedNanos: row.refundedNanos,
    attemptLog: attemptsOf(row),
    served: servedOf(row),
    createTime: new Date(row.createTimeMs),
    endTime: row.endTimeMs === null ? undefined : new Date(row.endTimeMs),
  };
}

/** Prices are pinned as bytes with one spelling, so equal prices have equal names. */
function priceVersion(price: Uint8Array): string {
  return hash("sha256", price).slice(0, 12);
}
