/** The models: at `/v1/models` one body that OpenAI's and Anthropic's clients can read, elsewhere a format's own. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Model, ModelServiceService } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import type { Format, FormatModels } from "../formats/format.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";
import { flatRecord } from "./headers.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

/** Where clients of any format look for the models, but for those of a format that has an address of its own. */
export const SHARED_MODELS: FormatModels = {
  path: "/v1/models",
  page: () => ({ pageSize: 0, pageToken: "" }),
  list: ({ models }, { query }) => ({
    object: "list",
    data: models.map(describeModel),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
    // A coding agent that names its version reads its own catalogue from this key and fails without it.
    ...("client_version" in query ? { models: [] } : {}),
  }),
  model: describeModel,
};

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
    return send(front, request, reply, head, message.model === undefined ? {} : shown.model(message.model));
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

/** The keys of both formats; each client leaves the other's alone. */
function describeModel(model: Model): { readonly id: string } & Readonly<Record<string, unknown>> {
  const created = model.createTime ?? new Date(0);
  return {
    id: model.id,
    object: "model",
    created: Math.floor(created.getTime() / 1000),
    owned_by: model.owner,
    type: "model",
    display_name: model.id,
    created_at: created.toISOString(),
    max_input_tokens: model.contextTokens === 0n ? null : Number(model.contextTokens),
    max_tokens: model.outputTokensMax === 0n ? null : Number(model.outputTokensMax),
    lifecycle: "active",
    line: null,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  };
}
