/** A page of requests over HTTP: a long one is written piece by piece, for each request has some fifty fields. */
import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { Readable } from "node:stream";
import { UsageServiceService } from "../api/index.js";
import type { ListRequestsResponse, RequestRecord } from "../api/index.js";
import { writerOf } from "../api/message-json.js";
import { goneSignal } from "./front.js";
import { requestBytes } from "./json-map.js";
import { type ManagementAnswer, orRefuseCaller } from "./management-call.js";
import { pieces } from "./time-sliced.js";
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
export function listJson(
  desc: DescMethod,
  { requests, nextPageToken }: ListRequestsResponse,
): string | AsyncGenerator<string> {
  const writeRequest = writerOf(requestDesc(desc));
  const [begin, end] = ['{"requests":[', `],"next_page_token":${JSON.stringify(nextPageToken)}}`];
  const write = (some: readonly RequestRecord[], isFirst: boolean): string =>
    (isFirst ? "" : ",") + some.map(writeRequest).join(",");
  if (requests.length <= PIECE_REQUESTS) return begin + write(requests, true) + end;
  return pieces(requests, PIECE_REQUESTS, { begin, write, end });
}

function requestDesc({ output }: DescMethod): DescMessage {
  const desc = output.fields.find(({ name }) => name === "requests")?.message;
  if (desc === undefined) throw new Error(`${output.typeName} has no requests`);
  return desc;
}
