/** `/openapi.json`: what the HTTP edge takes and gives, as the package has it. */
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";

const PUBLIC = { config: { permission: "public" } } as const;
/** As seen from src/http, and from dist/src/http. */
const PLACES = ["../../schemas/openapi.json", "../../../schemas/openapi.json"];

export function addOpenApiRoute(app: FastifyInstance): void {
  let document: Promise<Buffer> | undefined;
  app.get("/openapi.json", PUBLIC, async (_request, reply) => {
    document ??= readFirst(PLACES.map((place) => new URL(place, import.meta.url)));
    return reply
      .type("application/json; charset=utf-8")
      .header("access-control-allow-origin", "*")
      .send(await document);
  });
}

async function readFirst([place, ...others]: readonly URL[]): Promise<Buffer> {
  if (place === undefined) throw new Error("schemas/openapi.json is missing from the package");
  return readFile(place).catch(() => readFirst(others));
}
