/** The addresses that need no key: what this is, whether it lives, and whether it is ready. */
import type { FastifyInstance } from "fastify";
import { addOpenApiRoute } from "./openapi.js";

export interface HealthParts {
  readonly ready: () => Promise<boolean> | boolean;
  readonly isDraining: () => boolean;
}

const ABOUT = JSON.stringify({
  name: "tollgate",
  description:
    "A model-access gateway: the base URL of OpenAI (with /v1), Anthropic and Gemini clients, with keys of its own.",
  formats: {
    "OpenAI chat completions": "POST /v1/chat/completions",
    "OpenAI responses": "POST /v1/responses",
    "OpenAI completions": "POST /v1/completions",
    "OpenAI embeddings": "POST /v1/embeddings",
    "OpenAI moderations": "POST /v1/moderations",
    "Cohere rerank": "POST /v2/rerank",
    "OpenAI speech": "POST /v1/audio/speech",
    "Jina, Voyage and vLLM rerank": "POST /v1/rerank",
    "Anthropic messages": "POST /v1/messages",
    Gemini: "POST /v1/models/{model}:generateContent",
    "Gemini embeddings": "POST /v1/models/{model}:embedContent",
    gRPC: "tollgate.v1.InferenceService",
  },
  links: {
    console: "/console",
    models: "/v1/models",
    management: "/api/v1",
    live: "/livez",
    ready: "/readyz",
    openapi: "/openapi.json",
  },
});

const PUBLIC = { config: { permission: "public" } } as const;
const JSON_TYPE = "application/json; charset=utf-8";

export function addHealthRoutes(app: FastifyInstance, parts: HealthParts): void {
  app.get("/", PUBLIC, (_request, reply) => reply.type(JSON_TYPE).send(ABOUT));
  addOpenApiRoute(app);
  app.get("/livez", PUBLIC, (_request, reply) => reply.type(JSON_TYPE).send('{"status":"live"}'));
  app.get("/readyz", PUBLIC, async (_request, reply) => {
    const { code, status } = await readiness(parts);
    return reply.code(code).header("cache-control", "no-store").type(JSON_TYPE).send(JSON.stringify({ status }));
  });
}

/** What a probe is told: 200 where requests may be sent here, 503 where they should go elsewhere. */
export async function readiness(parts: HealthParts): Promise<{ readonly code: 200 | 503; readonly status: string }> {
  if (parts.isDraining()) return { code: 503, status: "stopping" };
  return (await isReady(parts)) ? { code: 200, status: "ready" } : { code: 503, status: "not ready" };
}

/** A probe that fails says "not ready", nothing else. */
async function isReady(parts: HealthParts): Promise<boolean> {
  try {
    return await parts.ready();
  } catch {
    return false;
  }
}
