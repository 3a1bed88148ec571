/** The models: at `/v1/models` as OpenAI's or Anthropic's clients read them, elsewhere a format's own. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ModelServiceService } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import { anthropic } from "../formats/anthropic.js";
import { anthropicModel, anthropicModelList } from "../formats/anthropic-models.js";
import type { Format, FormatModels, FormatRequest } from "../formats/format.js";
import { openAiModel, openAiModelList } from "../formats/openai-models.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";
import { flatRecord } from "./headers.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

/** Where clients of any format look for the models, but for those of a format that has an address of its own. */
export const SHARED_MODELS: FormatModels = {
  path: "/v1/models",
  page: () => ({ pageSize: 0, pageToken: "" }),
  list: (answer, asked) => (isAnthropic(asked) ? anthropicModelList(answer) : openAiModelList(answer, asked)),
  model: (model, asked) => (isAnthropic(asked) ? anthropicModel(model) : openAiModel(model)),
};

function isAnthropic({ headers }: FormatRequest): boolean {
  return anthropic.recognises(headers);
}

/** The list at its address, and one model under it. */
export function addModelRoutes(
  app: FastifyInstance,
  front: Front,
  routes: RouteTable,
  shown: FormatModels,
  format?: Format,
): void {
  const permission = { scope: "models" };
  const config = { config: format === undefined ? { permission } : { permission, format } };
  app.get(shown.path, config, async (request, reply) => {
    const asked = new HttpFormatRequest(request);
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(ModelServiceService.listModels, shown.page(asked), options);
    return send(front, request, reply, head, shown.list(message, asked));
  });
  // An identifier may hold slashes, percent-encoded or not.
  app.get(`${shown.path}/*`, config, async (request, reply) => {
    const id = flatRecord(request.params)["*"] ?? "";
    if (id === "") throw pathUnknown(request.method, request.url, routes);
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(ModelServiceService.getModel, { id }, options);
    const { model } = message;
    const asked = new HttpFormatRequest(request);
    return send(front, request, reply, head, model === undefined ? {} : shown.model(model, asked));
  });
}

function send(
  front: Front,
  request: FastifyRequest,
  reply: FastifyReply,
  head: CallMetadata,
  body: object,
): FastifyReply {
  return reply.headers(front.headers(request, head)).type("application/json; charset=utf-8").send(JSON.stringify(body));
}
