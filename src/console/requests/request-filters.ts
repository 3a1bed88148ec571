/** The filters of the log of requests: what the URL says, and what the server is asked. */
import type { ListRequestsRequest } from "../../../gen/console/usage_service.js";
import type { Asked } from "../api/client.ts";
import { requestWords } from "../copy/en-requests.ts";
import { words } from "../copy/en.ts";
import { parseMoney } from "../format.ts";
import type { RequestFilter, RequestSearch } from "../search.ts";

/** What the filters ask for. What was typed wrong filters nothing; the form says so. */
export function askedOf(search: RequestSearch): Asked<ListRequestsRequest> {
  return {
    keyId: search.key ?? "",
    model: search.model ?? "",
    upstream: search.upstream ?? "",
    reason: search.reason ?? "",
    endUser: search.user ?? "",
    tag: search.tag ?? "",
    query: search.find ?? "",
    ...(search.state === undefined ? {} : { state: search.state }),
    httpStatus: numberOf(search.status) ?? 0,
    minCostNanos: parseMoney(search.leastCost ?? ""),
    maxCostNanos: parseMoney(search.mostCost ?? ""),
    minTotalMs: numberOf(search.leastMs),
    maxTotalMs: numberOf(search.mostMs),
    startTime: momentOf(search.from),
    endTime: momentOf(search.to),
  };
}

/** How many filters there are. */
export function countOf({ page: _page, ...filters }: RequestSearch): number {
  return Object.keys(filters).filter((name) => name !== "account").length;
}

/** What is wrong with what was typed into a filter; undefined where it is right. */
export function wrongIn(name: RequestFilter, text: string): string | undefined {
  if (text === "") return undefined;
  switch (name) {
    case "status":
    case "leastMs":
    case "mostMs":
      return numberOf(text) === undefined ? words.form.wrongNumber : undefined;
    case "leastCost":
    case "mostCost":
      return parseMoney(text) === undefined ? words.form.wrongMoney : undefined;
    case "from":
    case "to":
      return momentOf(text) === undefined ? requestWords.wrongMoment : undefined;
    default:
      return undefined;
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** A moment in the reader's own time, as its field writes it. */
function momentOf(text: string | undefined): Date | undefined {
  const time = new Date(text ?? "");
  return Number.isNaN(time.getTime()) ? undefined : time;
}
