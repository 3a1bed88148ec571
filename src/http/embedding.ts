/** One request for vectors: asked of the service whole, and answered in the format's own shape. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type EmbedResponse, InferenceServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { type EmbeddingWire, type Format, outlined, type SourceBody } from "../formats/format.js";
import { HttpFormatRequest } from "./front.js";
import type { GenerationParts } from "./generation.js";
import { answerInBytes } from "./piecewise.js";

const NO_BYTES = Buffer.alloc(0);

/** Answers one request. Rejects with the refusal. */
export async function answerEmbedding(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  { front, running }: GenerationParts,
): Promise<FastifyReply> {
  const wire = format.embeddingWire;
  if (wire === undefined) throw new Error(`the format ${format.name} has a route for vectors and no wire for them`);
  const asked: SourceBody = {
    wire: wire.name,
    body: Buffer.isBuffer(request.body) ? request.body : NO_BYTES,
    headers: format.wireHeaders(new HttpFormatRequest(request)),
  };
  const gone = new AbortController();
  let stopReason: GatewayError | undefined;
  const stoppable = {
    stop: (reason: GatewayError): void => {
      stopReason ??= reason;
      gone.abort(reason);
    },
  };
  running.add(stoppable);
  reply.raw.once("close", () => {
    running.remove(stoppable);
    gone.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  });
  const source = await front.prepared(asked, request.admission?.holder ?? "");
  const call = { model: "", texts: [], dimensions: undefined, source, acceptWire: wire.name };
  const options = front.callOptions(request, gone.signal);
  const { message, head } = await front.channel
    .unary(InferenceServiceService.embed, call, options)
    .catch((error: unknown) => {
      throw stopReason ?? error;
    });
  if (reply.raw.destroyed) throw new GatewayError("ERROR_REASON_CANCELLED");
  answerInBytes(reply, front.headers(request, head), bodyOf(message, wire, source));
  return reply;
}

function bodyOf(answer: EmbedResponse, wire: EmbeddingWire, source: SourceBody): Buffer {
  return answer.source.length > 0 ? answer.source : wire.encodeAnswer(answer, wire.readRequest(outlined(source)));
}
