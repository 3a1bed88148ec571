/** The filters of the log of requests: what the URL says, and what the server is asked. */
import type { ListRequestsRequest } from "../../gen/console/usage_service.js";
import type { RequestFields } from "../api/client.ts";
import { requestWords } from "../copy/en-requests.ts";
import { localMoment } from "../format.ts";
import type { RequestFilter, RequestSearch } from "../search.ts";
import { parseMoney, parseWhole, wrongMoney, wrongWhole } from "../typed.ts";

/** What the filters ask for. What was typed wrong filters nothing; the form says so. */
export function askedOf(search: RequestSearch): RequestFields<ListRequestsRequest> {
  return {
    keyId: search.key ?? "",
    model: search.model ?? "",
    upstream: search.upstream ?? "",
    reason: search.reason ?? "",
    endUser: search.user ?? "",
    tag: search.tag ?? "",
    query: search.find ?? "",
    ...(search.state === undefined ? {} : { state: search.state }),
    failed: search.failed === "yes",
    ...statusOf(search.status ?? ""),
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
      return STATUS_CLASS.test(text) ? undefined : wrongWhole(text);
    case "leastMs":
    case "mostMs":
      return wrongWhole(text);
    case "leastCost":
    case "mostCost":
      return wrongMoney(text);
    case "from":
    case "to":
      return momentOf(text) === undefined ? requestWords.wrongMoment : undefined;
    default:
      return undefined;
  }
}

/** Such as 4xx. */
const STATUS_CLASS = /^[1-5]xx$/;

/** One status such as 404, or all of a class such as 4xx. */
function statusOf(text: string): Pick<RequestFields<ListRequestsRequest>, "minHttpStatus" | "maxHttpStatus"> {
  const least = STATUS_CLASS.test(text) ? Number(text.charAt(0)) * 100 : (numberOf(text) ?? 0);
  return { minHttpStatus: least, maxHttpStatus: STATUS_CLASS.test(text) ? least + 99 : least };
}

function numberOf(text: string | undefined): number | undefined {
  const number = parseWhole(text ?? "");
  return number === undefined ? undefined : Number(number);
}

/** A moment in the reader's own time, as its field writes it; of two ways to read a date that a URL holds, neither. */
function momentOf(text = ""): Date | undefined {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && text.startsWith(localMoment(time)) ? time : undefined;
}
