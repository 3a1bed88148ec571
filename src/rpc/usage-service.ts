/** UsageService: what requests used and cost. */
import { Price, type RequestRecord, type UsageServiceService } from "../api/index.js";
import type { RequestRow } from "../store/store.js";
import { invalid, required, unknown } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { accountFilter, isOperator } from "./ownership.js";
import { pageOf } from "./page.js";

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

type Parts = Pick<CoreParts, "store" | "nowMs">;

export function usageService({ store, nowMs }: Parts): Handlers<typeof UsageServiceService> {
  return {
    async getRequest({ id }, { caller }) {
      const row = await store.requests.get(required("id", id));
      if (row === undefined || !(isOperator(caller) || row.accountId === caller.accountId)) {
        throw unknown("request", id);
      }
      return { request: recordOf(row) };
    },
    async listRequests(request, { caller }) {
      const page = pageOf(request);
      const { rows, nextPageToken } = await store.requests.list(accountFilter(caller, request.accountId), page);
      return { requests: rows.map(recordOf), nextPageToken };
    },
    async summarizeUsage({ accountId, fromDay, toDay }, { caller }) {
      const account = accountFilter(caller, accountId);
      const to = toDay === "" ? dayOf(nowMs()) : checkDay("to_day", toDay);
      const from = fromDay === "" ? dayOf(nowMs() - DAYS_DEFAULT * DAY_MS) : checkDay("from_day", fromDay);
      if (from > to) throw invalid("from_day", "must not come after to_day");
      const rows = await store.requests.summarize(account, from, to);
      return {
        summaries: rows.map((row) => ({
          day: row.day,
          accountId: row.accountId,
          keyId: row.keyId,
          model: row.model,
          requestCount: BigInt(row.requestCount),
          usage: row.usage,
          costNanos: row.costNanos,
        })),
      };
    },
  };
}

function recordOf(row: RequestRow): RequestRecord {
  return {
    id: row.id,
    accountId: row.accountId,
    keyId: row.keyId,
    model: row.model,
    upstream: row.upstream,
    state: row.state,
    holdNanos: row.holdNanos,
    costNanos: row.costNanos,
    usage: row.usage,
    usageSource: row.usageSource,
    attempts: row.attempts,
    price: Price.decode(row.price),
    createTime: new Date(row.createTimeMs),
    endTime: row.endTimeMs === null ? undefined : new Date(row.endTimeMs),
  };
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** A day of the calendar: 2026-02-30 is none. */
function checkDay(param: string, day: string): string {
  const timeMs = DAY.test(day) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(timeMs) || dayOf(timeMs) !== day) throw invalid(param, "must be a day such as 2026-11-21");
  return day;
}
