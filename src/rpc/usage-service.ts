/** UsageService: what requests used and cost. */
import type { UsageSummary, UsageServiceService } from "../api/index.js";
import { eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { GatewayError } from "../errors.js";
import { UsageQuestions } from "../records/usage-questions.js";
import type { UsageSummaryRow } from "../store/store.js";
import { invalid, required, unknown } from "../api/check.js";
import type { CoreParts } from "./core.js";
import { entryOf } from "./entry.js";
import type { Handlers } from "./handler.js";
import { accountFilter, checkOwner, isOperator } from "./ownership.js";
import { pageOf } from "./page.js";
import { DAY_MS, dayOf } from "../api/day.js";
import { checkDay } from "./period.js";
import { listRequests } from "./request-list.js";
import { messageOfLedger, messageOfRecord } from "./request-message.js";
import { askedUsage, sumMessage } from "./usage-query.js";

const DAYS_DEFAULT = 30;
type Parts = Pick<CoreParts, "store" | "nowMs" | "ledger" | "records">;

export function usageService({ store, nowMs, ledger, records }: Parts): Handlers<typeof UsageServiceService> {
  const questions = records && new UsageQuestions({ records, requests: store.requests, nowMs });
  return {
    async getRequest({ id }, { caller }) {
      const [receipt, record] = await Promise.all([
        store.requests.receipt(required("id", id)),
        // What was paid is told also where records cannot be read.
        records?.find(id).catch(() => undefined),
      ]);
      if (receipt !== undefined) {
        checkOwner(caller, receipt.request.accountId, "request", id);
        const request = messageOfLedger(receipt.request, isOperator(caller), record);
        return { request, entries: receipt.entries.map(entryOf) };
      }
      if (record === undefined) throw unknown("request", id);
      checkOwner(caller, record.account, "request", id);
      return { request: messageOfRecord(record), entries: [] };
    },
    async queryUsage(request, { caller }) {
      // Whose account it is comes first: nobody learns anything of another one's.
      const { dimensions, filter } = askedUsage(request, caller, nowMs());
      if (questions === undefined) throw noRecords();
      const groups = await questions.ask(dimensions, filter);
      return { sums: groups.map((group) => sumMessage(group, caller)) };
    },
    async eraseEndUser({ endUser, accountId }, { act }) {
      const erased = required("end_user", endUser);
      if (records === undefined) throw noRecords();
      const count = await records.erase(accountId || undefined, erased);
      // The log is kept for good, so that it tells how much was erased and not of whom.
      const told = {
        result: count === 0 ? "unchanged" : "done",
        ...changeOf({ after: { requestCount: count } }),
      } as const;
      await store.audit.append(eventOf(act, { resource: `usage/${accountId}`, accountId, ...told }));
      return { requestCount: BigInt(count) };
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
      if (records !== undefined) return listRequests(request, caller, { requests: store.requests, records });
      const page = pageOf(request);
      const { rows, nextPageToken } = await store.requests.list(accountFilter(caller, request.accountId), page);
      const shown = rows.map((row) => messageOfLedger(row, isOperator(caller), undefined));
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

function noRecords(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it keeps no records of requests" });
}
