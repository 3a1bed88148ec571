/** `/v1/models`: one body that both OpenAI's and Anthropic's clients can read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Model, ModelServiceService } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import { type Front, goneSignal } from "./front.js";
import { flatRecord } from "./headers.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

const PERMISSION = { config: { permission: { scope: "models" } } } as const;

export function addModelRoutes(app: FastifyInstance, front: Front, routes: RouteTable): void {
  app.get("/v1/models", PERMISSION, async (request, reply) => {
    const options = front.callOptions(request, goneSignal(reply));
    const all = { pageSize: 0, pageToken: "" };
    const { message, head } = await front.channel.unary(ModelServiceService.listModels, all, options);
    const data = message.models.map(describeModel);
    return send(front, request, reply, head, {
      object: "list",
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      // A coding agent that names its version reads its own catalogue from this key and fails without it.
      ...("client_version" in flatRecord(request.query) ? { models: [] } : {}),
    });
  });
  // An identifier may hold slashes, percent-encoded or not.
  app.get("/v1/models/*", PERMISSION, async (request, reply) => {
    const id = modelId(request);
    if (id === "") throw pathUnknown(request.method, request.url, routes);
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(ModelServiceService.getModel, { id }, options);
    return send(front, request, reply, head, message.model === undefined ? {} : describeModel(message.model));
  });
}

function modelId(request: FastifyRequest): string {
  return flatRecord(request.params)["*"] ?? "";
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
