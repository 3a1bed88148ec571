/** Counting the input of a request: no model is asked to answer, and nothing is charged. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { InferenceServiceService } from "../api/index.js";
import type { Format } from "../formats/format.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";

const NO_BYTES = Buffer.alloc(0);

/** Answers with the count in the format's own shape, and tells whether it is exact. */
export async function answerCount(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  front: Front,
): Promise<FastifyReply> {
  const source = {
    wire: format.wire.name,
    body: Buffer.isBuffer(request.body) ? request.body : NO_BYTES,
    headers: format.wireHeaders(new HttpFormatRequest(request)),
  };
  const generation = { model: "", input: { $case: "source" as const, value: source }, clamp: undefined };
  const options = front.callOptions(request, goneSignal(reply));
  const { message, head } = await front.channel.unary(InferenceServiceService.countTokens, { generation }, options);
  return reply
    .headers(front.headers(request, head))
    .header("x-tollgate-token-count", message.exact ? "exact" : "estimated")
    .type("application/json; charset=utf-8")
    .send(format.encodeCount?.(Number(message.inputTokens)) ?? NO_BYTES);
}
