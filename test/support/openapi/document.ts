/** The OpenAPI document of the HTTP edge, made from the protocol and the client formats. */
import { REASONS, reasonWord, isReasonName } from "../../../src/base/errors.js";
import { ANSWERED } from "../headers-page.js";
import { formatPaths } from "./format-paths.js";
import { managementPaths, type PathOperation } from "./management-paths.js";
import { MessageSchemas, type Schema } from "./message-schemas.js";
import { protoComments } from "./proto-comments.js";

const JSON_OBJECT = { "application/json": { schema: { type: "object" } } };
const REFUSED = { $ref: "#/components/responses/Refusal" };

/** The document; its version is the package's. */
export async function openApiDocument(version: string): Promise<Schema> {
  const comments = protoComments();
  const schemas = new MessageSchemas(comments);
  const operations = [...(await formatPaths()), ...ownPaths(), ...managementPaths(schemas, comments)];
  const paths: Record<string, Record<string, Schema>> = {};
  for (const { path, verb, operation } of operations) (paths[path] ??= {})[verb] = operation;
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version,
      description:
        "Language models of many families behind one address, with keys, limits, budgets and a ledger. Paths under " +
        "/v1, /v1beta and /v1alpha are the APIs of the client formats; /api/v1 is the management API. The gRPC package " +
        "tollgate.v1 offers the same.",
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }, { apiKey: [] }],
    tags: tagsOf(operations, comments),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "A key such as sk-..." },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The same key, as Anthropic's clients send it.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-tollgate",
          description: "The session of a signed-in person.",
        },
      },
      responses: { Refusal: refusal() },
      schemas: Object.fromEntries([...schemas.kept].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function tagsOf(operations: readonly PathOperation[], comments: ReadonlyMap<string, string>): readonly Schema[] {
  const names = new Set(operations.flatMap(({ operation }) => [operation["tags"]].flat().map(String)));
  const own: Readonly<Record<string, string>> = {
    Models: "Requests to models, in the formats of the clients.",
    OpenRouter:
      "What clients of OpenRouter read about their key, in OpenRouter's shapes. The paths also exist under `/api/v1`.",
    Process: "Health checks and information about the process.",
  };
  return [...names].map((name) => ({
    name,
    description: own[name] ?? comments.get(`tollgate.v1.${name}`)?.split("\n\n")[0] ?? name,
  }));
}

/** What every refusal has, whatever the envelope of its format. */
function refusal(): Schema {
  const headers = ANSWERED.filter(({ what }) => what.startsWith("errors: ")).concat(
    ANSWERED.filter(({ name }) => name === "x-request-id"),
  );
  const reasons = Object.keys(REASONS).filter(isReasonName).map(reasonWord).sort();
  return {
    description: "An error. OpenAI's formats and /api/v1 use this envelope; other formats use their own.",
    headers: Object.fromEntries(
      headers.map(({ name, what }) => [
        name,
        {
          description: what.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"),
          schema: name === "x-tollgate-reason" ? { type: "string", enum: reasons } : { type: "string" },
        },
      ]),
    ),
    content: {
      "application/json": {
        schema: {
          type: "object",
          required: ["error"],
          properties: {
            error: {
              type: "object",
              required: ["message", "type", "param", "code"],
              properties: {
                message: { type: "string" },
                type: { type: "string" },
                param: { type: ["string", "null"] },
                code: { type: "string" },
              },
            },
          },
        },
      },
    },
  };
}

/** What no method of the protocol and no format is. */
function ownPaths(): readonly PathOperation[] {
  const parameter = (name: string): Schema => ({ name, in: "path", required: true, schema: { type: "string" } });
  const open = (path: string, operationId: string, summary: string): PathOperation => ({
    path,
    verb: "get",
    operation: {
      operationId,
      tags: ["Process"],
      summary,
      security: [],
      "x-tollgate-permission": "public",
      responses: { 200: { description: "The answer.", content: JSON_OBJECT }, default: REFUSED },
    },
  });
  const models = (path: string, operationId: string, summary: string, inPath?: string): PathOperation => ({
    path,
    verb: "get",
    operation: {
      operationId,
      tags: ["Models"],
      summary,
      "x-tollgate-permission": "models",
      ...(inPath === undefined ? {} : { parameters: [parameter(inPath)] }),
      responses: { 200: { description: "The answer.", content: JSON_OBJECT }, default: REFUSED },
    },
  });
  const stream = (verb: string, operationId: string, summary: string, type: string): PathOperation => ({
    path: "/v1/streams/{request}",
    verb,
    operation: {
      operationId,
      tags: ["Models"],
      summary,
      parameters: [parameter("request"), ...(verb === "get" ? [LAST_EVENT] : [])],
      "x-tollgate-permission": "chat",
      responses: {
        200: {
          description: "The answer.",
          content: { [type]: { schema: { type: type.endsWith("json") ? "object" : "string" } } },
        },
        default: REFUSED,
      },
    },
  });
  const openRouter = (path: string, operationId: string, summary: string, inQuery?: string): PathOperation => ({
    path,
    verb: "get",
    operation: {
      operationId,
      tags: ["OpenRouter"],
      summary,
      "x-tollgate-permission": "usage",
      ...(inQuery === undefined ? {} : { parameters: [{ ...parameter(inQuery), in: "query" }] }),
      responses: { 200: { description: "The answer.", content: JSON_OBJECT }, default: REFUSED },
    },
  });
  return [
    openRouter("/v1/key", "getOpenRouterKey", "Shows the key, its tightest budget and what it spent"),
    openRouter("/v1/auth/key", "getOpenRouterAuthKey", "The same as `/v1/key`"),
    openRouter("/v1/credits", "getOpenRouterCredits", "Shows what the account was granted and what it spent"),
    openRouter("/v1/generation", "getOpenRouterGeneration", "Shows a request that ended, by its `x-request-id`", "id"),
    models(
      "/v1/models",
      "listClientModels",
      "Lists the models that the key may use, in the format of the client: OpenAI, Anthropic or Gemini",
    ),
    models("/v1/models/{model}", "getClientModel", "Shows one of these models", "model"),
    models("/v1beta/models", "listGeminiModels", "Lists the models that the key may use, in Gemini's format"),
    models("/v1beta/models/{model}", "getGeminiModel", "Shows one of these models", "model"),
    models("/v1alpha/models", "listGeminiAlphaModels", "The same as `/v1beta/models`"),
    models("/v1alpha/models/{model}", "getGeminiAlphaModel", "Shows one of these models", "model"),
    stream("get", "resumeStream", "Resumes a stream after a lost connection", "text/event-stream"),
    stream("delete", "cancelStream", "Cancels a stream and charges what it delivered", "application/json"),
    open("/", "about", "Describes the gateway"),
    open("/livez", "live", "Liveness: answers while the process runs"),
    open("/readyz", "ready", "Readiness: answers 503 while this process must receive no requests"),
    open("/openapi.json", "openapi", "This API as an OpenAPI document"),
  ];
}

const LAST_EVENT = {
  name: "last-event-id",
  in: "header",
  schema: { type: "string" },
  description: "The id of the last event that was received.",
};
