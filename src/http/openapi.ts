/** `/openapi.json`: what the HTTP edge takes and gives, as the package has it. */
import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import { PACKAGE_ROOT } from "../base/package-root.js";

const PUBLIC = { config: { permission: "public" } } as const;
const DOCUMENT = new URL("schemas/openapi.json", PACKAGE_ROOT);

export function addOpenApiRoute(app: FastifyInstance): void {
  let document: Promise<Buffer> | undefined;
  app.get("/openapi.json", PUBLIC, async (_request, reply) => {
    document ??= readFile(DOCUMENT);
    return reply
      .type("application/json; charset=utf-8")
      .header("access-control-allow-origin", "*")
      .send(await document);
  });
}
