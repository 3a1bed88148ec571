/** One management route: how its HTTP request becomes the method's message, and the answer JSON. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AnyMethod } from "../api/methods.js";
import { GatewayError } from "../base/errors.js";
import { bodyTooLarge } from "../base/bytes/body-limit.js";
import { type Front, goneSignal } from "./front.js";
import { isOfSession, requireSignInPlace, sessionCookies } from "./session-cookie.js";
import { type HttpInput, requestBytes, responseJson } from "./json-map.js";

/** No message of management is nearly as long; one that is takes the event loop's time from everybody. */
export const MANAGEMENT_BODY_BYTES_MAX = 256 * 1024;

export interface ManagementRoute {
  readonly front: Front;
  /** Made when it is first asked for. */
  readonly desc: DescMethod;
  readonly method: AnyMethod;
  /** What the caller's key needs. */
  readonly scope: string;
  /** True where nobody needs to be known: people sign in by it. */
  readonly isOpen: boolean;
}

/** How a route answers what is meant for it. */
export type ManagementAnswer = (
  request: FastifyRequest,
  reply: FastifyReply,
  input: HttpInput,
  route: ManagementRoute,
) => Promise<FastifyReply>;

/** Calls the method with what the request says, and answers with what it says. */
export async function answerMessage(
  request: FastifyRequest,
  reply: FastifyReply,
  input: HttpInput,
  route: ManagementRoute,
): Promise<FastifyReply> {
  const { front, desc, method } = route;
  // Before anything is looked at: a session must not begin where its cookie cannot be set.
  if (route.isOpen && request.method !== "GET") requireSignInPlace(request);
  const bytes = await orRefuseCaller(request, route, () => {
    if ((input.body?.length ?? 0) > MANAGEMENT_BODY_BYTES_MAX) throw bodyTooLarge(MANAGEMENT_BODY_BYTES_MAX);
    return requestBytes(desc, input);
  });
  const options = front.callOptions(request, goneSignal(reply));
  const { message, head } = await front.channel.unary(method, method.requestDeserialize(bytes), options);
  const cookies = sessionCookies(request, head);
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  // What people see of themselves and of others is in no cache.
  if (cookies.length > 0 || isOfSession(request)) reply.header("cache-control", "no-store");
  return reply
    .headers(front.headers(request, head))
    .type("application/json; charset=utf-8")
    .send(responseJson(desc, method.responseSerialize(message)));
}

/** Reads something of the request; where that refuses, a refusal of the caller comes first. */
export async function orRefuseCaller<Result>(
  request: FastifyRequest,
  { front, method, scope, isOpen }: ManagementRoute,
  read: () => Result,
): Promise<Result> {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError && !isOpen) await front.checkCaller(request, { scope, method: method.path });
    throw error;
  }
}
