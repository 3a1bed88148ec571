/** The models: at `/v1/models` as the client's format reads them, elsewhere as the format of that address does. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ModelServiceService } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import type { Format, FormatModels } from "../formats/format.js";
import { openaiModels } from "../formats/openai-models.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";
import { flatRecord } from "./headers.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

/** Where clients of any format look for the models. */
const SHARED_PATH = "/v1/models";

/** The lists at their addresses, and one model under each. */
export function addModelRoutes(app: FastifyInstance, front: Front, routes: RouteTable): void {
  addAddress(app, front, routes, SHARED_PATH);
  for (const format of front.formats)
    for (const path of format.models?.paths ?? []) addAddress(app, front, routes, path, format);
}

function addAddress(app: FastifyInstance, front: Front, routes: RouteTable, path: string, format?: Format): void {
  const permission = { scope: "models" };
  const shared = { permission, isClientApi: true };
  const config = { config: format === undefined ? shared : { ...shared, format } };
  const shownTo = (request: FastifyRequest): FormatModels => front.formatOf(request)?.models ?? openaiModels;
  app.get(path, config, async (request, reply) => {
    const asked = new HttpFormatRequest(request);
    const shown = shownTo(request);
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(ModelServiceService.listModels, shown.page(asked), options);
    return send(front, request, reply, head, shown.list(message, asked));
  });
  // An identifier may hold slashes, percent-encoded or not.
  app.get(`${path}/*`, config, async (request, reply) => {
    const id = flatRecord(request.params)["*"] ?? "";
    if (id === "") throw pathUnknown(request.method, request.url, routes);
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(ModelServiceService.getModel, { id }, options);
    const { model } = message;
    const asked = new HttpFormatRequest(request);
    return send(front, request, reply, head, model === undefined ? {} : shownTo(request).model(model, asked));
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
