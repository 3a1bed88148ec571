/** One management route: how its HTTP request becomes the method's message, and the answer JSON. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AnyMethod } from "../api/methods.js";
import { GatewayError } from "../errors.js";
import { tooLarge } from "./body-check.js";
import { type Front, goneSignal } from "./front.js";
import { type HttpInput, requestBytes, responseJson } from "./json-map.js";

/** No message of management is nearly as long; one that is takes the event loop's time from everybody. */
export const BODY_BYTES_MAX = 256 * 1024;

export interface ManagementRoute {
  readonly front: Front;
  readonly desc: DescMethod;
  readonly method: AnyMethod;
  /** What the caller's key needs. */
  readonly scope: string;
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
  const bytes = await orRefuseCaller(request, route, () => {
    if ((input.body?.length ?? 0) > BODY_BYTES_MAX) throw tooLarge(BODY_BYTES_MAX);
    return requestBytes(desc, input);
  });
  const options = front.callOptions(request, goneSignal(reply));
  const { message, head } = await front.channel.unary(method, method.requestDeserialize(bytes), options);
  return reply
    .headers(front.headers(request, head))
    .type("application/json; charset=utf-8")
    .send(responseJson(desc, method.responseSerialize(message)));
}

/** Reads something of the request; where that refuses, a refusal of the caller comes first. */
export async function orRefuseCaller<Result>(
  request: FastifyRequest,
  { front, scope }: ManagementRoute,
  read: () => Result,
): Promise<Result> {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError) await front.checkCaller(request, { scope });
    throw error;
  }
}
