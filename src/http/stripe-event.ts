/** Events of Stripe's: their bodies go on byte by byte, since their signature is of those. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { PaymentServiceService } from "../api/index.js";
import { goneSignal } from "./front.js";
import { flatRecord } from "./headers.js";
import { type HttpInput, responseJson } from "./json-map.js";
import type { ManagementRoute } from "./management-call.js";

/** Stripe's are a few thousand bytes long. */
export const EVENT_BYTES_MAX = 65_536;
const METHOD = PaymentServiceService.handleStripeEvent;

/**
 * No session and no key counts here, and so no header that a page cannot send is asked for: the signature alone lets an
 * event in, which no browser can make.
 */
export async function answerStripeEvent(
  request: FastifyRequest,
  reply: FastifyReply,
  { body }: HttpInput,
  { front, desc }: ManagementRoute,
): Promise<FastifyReply> {
  const asked = { payload: body ?? Buffer.alloc(0), signature: flatRecord(request.headers)["stripe-signature"] ?? "" };
  const { message, head } = await front.channel.unary(METHOD, asked, front.callOptions(request, goneSignal(reply)));
  return reply
    .headers(front.headers(request, head))
    .type("application/json; charset=utf-8")
    .send(responseJson(desc, Buffer.from(METHOD.responseSerialize(message))));
}
