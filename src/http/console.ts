/** The web console's files under `/console`: a page for every path, and assets that never change under their names. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pathUnknown } from "./not-found.js";
import type { RouteTable } from "./routes.js";

const PUBLIC = { config: { permission: "public" } } as const;
const TYPES: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".md": "text/markdown; charset=utf-8",
};
/** What the build writes where each answer's own nonce belongs. */
const NONCE_MARK = /TOLLGATE_NONCE/g;
/** Longer than any that the build writes, and shorter than what a file system takes. */
const ASSET = /^assets\/\w[\w.-]{0,199}$/;
const NOT_BUILT =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">' +
  '<meta name="viewport" content="width=device-width"><title>Tollgate</title><h1>The console is being built</h1>' +
  "<p>The gateway serves requests already. This page loads again by itself until the console is there, a few seconds " +
  "after the first start.</p><p>If it stays, build it by hand: <code>npm run build</code></p></html>";

/** Serves what the build wrote to a folder. Until it is there, a page says so; without a folder nothing is served. */
export function addConsoleRoutes(app: FastifyInstance, directory: string | undefined, routes: RouteTable): void {
  if (directory === undefined) return;
  app.get("/console", PUBLIC, (_request, reply) => sendPage(reply, directory));
  app.get("/console/*", PUBLIC, (request, reply) => {
    const name = nameOf(request);
    if (!name.startsWith("assets/")) return sendPage(reply, directory);
    if (!ASSET.test(name)) throw pathUnknown(request.method, request.url, routes);
    return sendAsset(request, reply, join(directory, name), routes);
  });
}

function nameOf(request: FastifyRequest): string {
  const { params } = request;
  const rest: unknown = typeof params === "object" && params !== null && "*" in params ? params["*"] : "";
  return typeof rest === "string" ? rest : "";
}

async function sendPage(reply: FastifyReply, directory: string): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString("base64");
  const page = await readIfThere(join(directory, "index.html"));
  reply.headers(pageHeaders(nonce)).type("text/html; charset=utf-8");
  if (page === undefined) return reply.code(503).header("retry-after", "2").send(NOT_BUILT);
  return reply.send(page.toString("utf8").replaceAll(NONCE_MARK, nonce));
}

/** Assets are named by what they hold, so that they never change; the build wrote each of them compressed as well. */
async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  routes: RouteTable,
): Promise<FastifyReply> {
  const takesGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
  const compressed = takesGzip ? await readIfThere(`${path}.gz`) : undefined;
  const bytes = compressed ?? (await readIfThere(path));
  if (bytes === undefined) throw pathUnknown(request.method, request.url, routes);
  if (compressed !== undefined) reply.header("content-encoding", "gzip");
  return reply
    .header("cache-control", "public, max-age=31536000, immutable")
    .header("vary", "accept-encoding")
    .header("x-content-type-options", "nosniff")
    .type(TYPES[extname(path)] ?? "application/octet-stream")
    .send(bytes);
}

/** Scripts and styles come from here alone, nothing is sent elsewhere, and no other site frames the page. */
function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  };
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}
