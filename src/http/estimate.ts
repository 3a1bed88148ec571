/** Estimates for requests as clients send them: any format's own body, at its own path behind the one of estimates. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { methodByPath } from "../api/descriptors.js";
import { MODEL_KINDS } from "../api/model-kinds.js";
import { type EstimateCostRequest, InferenceServiceService } from "../api/index.js";
import type { Format, SourceBody } from "../formats/format.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";
import { askedClamp } from "./headers.js";
import type { HttpInput } from "./json-map.js";
import { responseJson } from "./json-map.js";
import { NO_SPEECH } from "./speech.js";
import { surfaceRoute } from "./unary.js";
import { answerMessage, type ManagementRoute } from "./management-call.js";

const METHOD = InferenceServiceService.estimateCost;
const PATH = "/api/v1/estimate";
/** Whose body it is where neither the path nor a header tells. */
const FORMAT_PATH_DEFAULT = "/v1/chat/completions";

/** The message of the method begins with one of its members, so that no client's body is taken for it. */
const MESSAGE = /^\s*\{\s*"(?:generation|embedding|rerank|moderation|speech)"\s*:/;
const MESSAGE_BYTES = 256;

/** What a model is asked for, by the kind of a route. */
const KINDS = {
  generate: "chat",
  embed: "embedding",
  rerank: "rerank",
  moderation: "moderation",
  speech: "speech",
} as const;
type AskingKind = keyof typeof KINDS;

/** `/api/v1/estimate/v1/messages` takes what `/v1/messages` takes, and so on for every route that asks a model. */
export function addEstimateRoutes(app: FastifyInstance, front: Front): void {
  for (const format of front.formats) {
    for (const { method, path, kind } of format.routes) {
      if (kind === "count") continue;
      const config = { permission: { scope: MODEL_KINDS[KINDS[kind]].scope } };
      const handler = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
        answerBody(request, reply, format, front, kind);
      app.route({ method, url: PATH + path, config, handler });
    }
  }
}

/** Answers for the method's own message, or for a client's body, whose format its headers tell. */
export function answerEstimate(
  request: FastifyRequest,
  reply: FastifyReply,
  input: HttpInput,
  route: ManagementRoute,
): Promise<FastifyReply> {
  const { front } = route;
  const start = input.body?.toString("latin1", 0, MESSAGE_BYTES) ?? "";
  const asked = new HttpFormatRequest(request);
  const format =
    front.formats.find((format) => format.recognises(asked) && generatesAt(format, (path) => !/[:*]/.test(path))) ??
    front.formats.find((format) => generatesAt(format, (path) => path === FORMAT_PATH_DEFAULT));
  if (start.trim() === "" || MESSAGE.test(start) || format === undefined)
    return answerMessage(request, reply, input, route);
  return answerBody(request, reply, format, front, "generate");
}

function generatesAt(format: Format, fits: (path: string) => boolean): boolean {
  return format.routes.some(({ kind, path }) => kind === "generate" && fits(path));
}

async function answerBody(
  request: FastifyRequest,
  reply: FastifyReply,
  format: Format,
  front: Front,
  kind: AskingKind,
): Promise<FastifyReply> {
  const options = front.callOptions(request, goneSignal(reply));
  const asked = askedOf(request, format, kind);
  const { message, head } = await front.channel.unary(METHOD, asked, options);
  return reply
    .headers(front.headers(request, head))
    .type("application/json; charset=utf-8")
    .send(responseJson(methodByPath(METHOD.path).desc, Buffer.from(METHOD.responseSerialize(message))));
}

const NOTHING: EstimateCostRequest = {
  generation: undefined,
  embedding: undefined,
  rerank: undefined,
  moderation: undefined,
  speech: undefined,
};

function askedOf(request: FastifyRequest, format: Format, kind: AskingKind): EstimateCostRequest {
  switch (kind) {
    case "generate": {
      const clamp = askedClamp(request.headers);
      const input = { $case: "source" as const, value: sourceOf(request, format, format.wire.name) };
      return { ...NOTHING, generation: { model: "", input, outputTokensMax: undefined, clamp } };
    }
    case "embed": {
      const source = sourceOf(request, format, format.embeddingWire?.name ?? "");
      return { ...NOTHING, embedding: { model: "", texts: [], dimensions: undefined, source, acceptWire: "" } };
    }
    case "rerank": {
      const source = sourceOf(request, format, surfaceRoute(kind, format).wire);
      return { ...NOTHING, rerank: { model: "", query: "", documents: [], resultsMax: undefined, source } };
    }
    case "moderation": {
      const source = sourceOf(request, format, surfaceRoute(kind, format).wire);
      return { ...NOTHING, moderation: { model: "", texts: [], source } };
    }
    case "speech": {
      const source = sourceOf(request, format, format.surfaces?.speech.name ?? "");
      return { ...NOTHING, speech: { ...NO_SPEECH, source } };
    }
  }
}

function sourceOf(request: FastifyRequest, format: Format, wire: string): SourceBody {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { wire, body, headers: format.wireHeaders(new HttpFormatRequest(request)) };
}
