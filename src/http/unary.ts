/** Requests that are asked of the service once and answered whole in the format's own shape: vectors, and surfaces. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallMetadata, CallOptions, Channel } from "../api/channel.js";
import { type EmbedResponse, InferenceServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { type EmbeddingWire, type Format, outlined, type SourceBody, type SurfaceKind } from "../formats/format.js";
import { HttpFormatRequest } from "./front.js";
import { askedTimeoutMs } from "./headers.js";
import type { GenerationParts } from "./generation.js";
import { answerInBytes } from "./piecewise.js";

const NO_BYTES = Buffer.alloc(0);

/** The body for the client, and the head that came with it. */
interface UnaryAnswer {
  readonly body: Buffer;
  readonly head: CallMetadata;
}

/** How a route asks, in the wire of its clients. */
interface UnaryRoute {
  readonly wire: string;
  ask(channel: Channel, source: SourceBody, options: CallOptions): Promise<UnaryAnswer>;
}

/** A route for vectors. */
export function embeddingRoute({ name, embeddingWire: wire }: Format): UnaryRoute {
  if (wire === undefined) throw new Error(`the format ${name} has a route for vectors and no wire for them`);
  return {
    wire: wire.name,
    async ask(channel, source, options) {
      const call = { model: "", texts: [], dimensions: undefined, source, acceptWire: wire.name };
      const { message, head } = await channel.unary(InferenceServiceService.embed, call, options);
      return { body: vectorsIn(message, wire, source), head };
    },
  };
}

function vectorsIn(answer: EmbedResponse, wire: EmbeddingWire, source: SourceBody): Buffer {
  return answer.source.length > 0 ? answer.source : wire.encodeAnswer(answer, wire.readRequest(outlined(source)));
}

/** Surfaces that are answered whole. */
type WholeKind = Exclude<SurfaceKind, "speech">;

/** A route of a surface. */
export function surfaceRoute(kind: WholeKind, { name, surfaces }: Format): UnaryRoute {
  const wire = surfaces?.[kind].name;
  if (wire === undefined) throw new Error(`the format ${name} has a route for the surface ${kind} and no wire for it`);
  return {
    wire,
    async ask(channel, source, options) {
      const { message, head } = await callOf(kind, channel, source, options);
      return { body: message.source, head };
    },
  };
}

function callOf(
  kind: WholeKind,
  channel: Channel,
  source: SourceBody,
  options: CallOptions,
): Promise<{ readonly message: { readonly source: Buffer }; readonly head: CallMetadata }> {
  switch (kind) {
    case "rerank":
      return channel.unary(
        InferenceServiceService.rerank,
        { model: "", query: "", documents: [], resultsMax: undefined, source },
        options,
      );
    case "moderation":
      return channel.unary(InferenceServiceService.moderate, { model: "", texts: [], source }, options);
  }
}

/** Answers one request. Rejects with the refusal. */
export async function answerUnary(
  request: FastifyRequest,
  reply: FastifyReply,
  { format, route }: { readonly format: Format; readonly route: UnaryRoute },
  { front, running }: GenerationParts,
): Promise<FastifyReply> {
  const asked: SourceBody = {
    wire: route.wire,
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
  const options = front.callOptions(request, gone.signal, askedTimeoutMs(request.headers));
  const { body, head } = await route.ask(front.channel, source, options).catch((error: unknown) => {
    throw stopReason ?? error;
  });
  if (reply.raw.destroyed) throw new GatewayError("ERROR_REASON_CANCELLED");
  answerInBytes(reply, front.headers(request, head), body);
  return reply;
}
