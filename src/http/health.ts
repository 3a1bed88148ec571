/** The addresses that need no key: what this is, whether it lives, whether it is ready, and its metrics. */
import type { FastifyInstance } from "fastify";

export interface HealthParts {
  readonly ready: () => Promise<boolean> | boolean;
  readonly metricsText: () => Promise<string>;
  readonly isDraining: () => boolean;
}

const ABOUT = JSON.stringify({
  name: "tollgate",
  description:
    "A model-access gateway. Use it as the base URL of an OpenAI client (with /v1) or a Gemini client, with a key of its own.",
  links: { models: "/v1/models", management: "/api/v1", live: "/livez", ready: "/readyz", metrics: "/metrics" },
});

const PUBLIC = { config: { permission: "public" } } as const;
const JSON_TYPE = "application/json; charset=utf-8";

export function addHealthRoutes(app: FastifyInstance, parts: HealthParts): void {
  app.get("/", PUBLIC, (_request, reply) => reply.type(JSON_TYPE).send(ABOUT));
  app.get("/livez", PUBLIC, (_request, reply) => reply.type(JSON_TYPE).send('{"status":"live"}'));
  app.get("/readyz", PUBLIC, async (_request, reply) => {
    const status = parts.isDraining() ? "stopping" : (await isReady(parts)) ? "ready" : "not ready";
    return reply
      .code(status === "ready" ? 200 : 503)
      .header("cache-control", "no-store")
      .type(JSON_TYPE)
      .send(JSON.stringify({ status }));
  });
  app.get("/metrics", PUBLIC, async (_request, reply) =>
    reply.type("text/plain; version=0.0.4; charset=utf-8").send(await parts.metricsText()),
  );
}

/** A probe that fails says "not ready", nothing else. */
async function isReady(parts: HealthParts): Promise<boolean> {
  try {
    return await parts.ready();
  } catch {
    return false;
  }
}
