/** A page of requests over HTTP: a long one is written piece by piece, for each request has some fifty fields. */
import type { DescMethod } from "@bufbuild/protobuf";
import { Readable } from "node:stream";
import { UsageServiceService } from "../api/index.js";
import type { ListRequestsResponse, RequestRecord } from "../api/index.js";
import { goneSignal } from "./front.js";
import { requestBytes, responseJson } from "./json-map.js";
import { type ManagementAnswer, orRefuseCaller } from "./management-route.js";
import { pieces } from "./pieces.js";
import { isOfSession } from "./session-cookie.js";

const { listRequests } = UsageServiceService;
/** What is written between two looks at the time. */
const PIECE_REQUESTS = 10;

export const answerRequestList: ManagementAnswer = async (request, reply, input, route) => {
  const { front, desc } = route;
  const asked = await orRefuseCaller(request, route, () => listRequests.requestDeserialize(requestBytes(desc, input)));
  const options = front.callOptions(request, goneSignal(reply));
  const { message, head } = await front.channel.unary(listRequests, asked, options);
  reply.headers(front.headers(request, head)).type("application/json; charset=utf-8");
  // What people see of themselves and of others is in no cache.
  if (isOfSession(request)) reply.header("cache-control", "no-store");
  const text = listJson(desc, message);
  return reply.send(typeof text === "string" ? text : Readable.from(text));
};

/** The JSON text of a page, or its pieces. */
export function listJson(desc: DescMethod, page: ListRequestsResponse): string | AsyncGenerator<string> {
  const json = (requests: RequestRecord[], nextPageToken: string): string =>
    responseJson(desc, listRequests.responseSerialize({ requests, nextPageToken }));
  if (page.requests.length <= PIECE_REQUESTS) return json(page.requests, page.nextPageToken);
  // What stands before and behind the requests of a page that has none.
  const empty = json([], page.nextPageToken);
  const at = empty.indexOf("[]") + 1;
  const write = (requests: RequestRecord[], isFirst: boolean): string => {
    const text = json(requests, "");
    return (isFirst ? "" : ",") + text.slice(text.indexOf("[") + 1, text.lastIndexOf("]"));
  };
  return pieces(page.requests, PIECE_REQUESTS, { begin: empty.slice(0, at), write, end: empty.slice(at) });
}
