/** The management routes under `/api/v1`, made of the proto's google.api.http options: no method has its own code. */
import type { FastifyInstance } from "fastify";
import { type HttpRule, type MethodDescription, methods } from "../api/descriptors.js";
import { serviceMethod } from "../api/methods.js";
import { GatewayError } from "../errors.js";
import { type Front, goneSignal } from "./front.js";
import { flatRecord } from "./headers.js";
import { requestBytes, responseJson } from "./json-map.js";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

export function addManagementRoutes(app: FastifyInstance, front: Front, routes: RouteTable): void {
  for (const method of methods()) {
    if (method.http !== undefined) addRoute(app, front, routes, method, method.http);
  }
}

function addRoute(
  app: FastifyInstance,
  front: Front,
  routes: RouteTable,
  { desc, path, permission }: MethodDescription,
  http: HttpRule,
): void {
  const method = serviceMethod(path);
  if (method === undefined || permission === undefined) throw new Error(`${path} has no code or no permission`);
  const scope = permission.operator ? "operator" : permission.scope;
  const rest = restField(http.pattern);
  app.route({
    method: http.verb,
    url: routeUrl(http.pattern),
    config: { permission: { scope } },
    handler: async (request, reply) => {
      const params = flatRecord(request.params);
      const named = rest === undefined ? params : { [rest]: params["*"] ?? "" };
      // A path that ends in a slash is not the resource without a name.
      if (Object.values(named).includes("")) throw pathUnknown(request.method, request.url, routes);
      const input = {
        path: named,
        query: request.query,
        body: http.body === "*" ? bodyBytes(request.body) : undefined,
      };
      const bytes = await orRefuseCaller(
        () => requestBytes(desc, input),
        () => front.checkCaller(request, reply, { scope }),
      );
      const options = front.callOptions(request, goneSignal(reply));
      const { message, head } = await front.channel.unary(method, method.requestDeserialize(bytes), options);
      return reply
        .headers(front.headers(request, head))
        .type("application/json; charset=utf-8")
        .send(responseJson(desc, method.responseSerialize(message)));
    },
  });
}

/** Runs the mapping; where it refuses, a refusal of the caller comes first. */
async function orRefuseCaller<Result>(map: () => Result, checkCaller: () => Promise<void>): Promise<Result> {
  try {
    return map();
  } catch (error) {
    if (error instanceof GatewayError) await checkCaller();
    throw error;
  }
}

function bodyBytes(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** A pattern of google.api.http as Fastify writes it. */
function routeUrl(pattern: string): string {
  return pattern
    .replaceAll(":", "::")
    .replaceAll(/\{\w+=\*\*\}/g, "*")
    .replaceAll(/\{(\w+)\}::/g, ":$1(^[^:]+)::")
    .replaceAll(/\{(\w+)\}/g, ":$1");
}

/** The field that takes the rest of the path, as in `{id=**}`. */
function restField(pattern: string): string | undefined {
  return /\{(\w+)=\*\*\}/.exec(pattern)?.[1];
}
