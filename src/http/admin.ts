/** What machines ask of the operator's own address over HTTP: metrics, and whether the process lives and is ready. */
import { createServer, type RequestListener, type Server } from "node:http";
import { type HealthParts, readiness } from "./health.js";

export interface AdminParts extends HealthParts {
  readonly metricsText: () => Promise<string>;
}

interface Answer {
  readonly code: number;
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = "application/json; charset=utf-8";
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const SLOW_MS = 15_000;

/** A server that does not listen: it is given its connections. */
export function createAdminHttp(parts: AdminParts): Server {
  const listener: RequestListener = (request, response) => {
    answer(request.url?.split("?", 1)[0] ?? "", parts)
      .catch((): Answer => ({ code: 500, type: JSON_TYPE, text: '{"status":"failed"}' }))
      .then(({ code, type, text }) => {
        response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
      })
      .catch(() => response.destroy());
  };
  return createServer({ headersTimeout: SLOW_MS, requestTimeout: SLOW_MS }, listener);
}

async function answer(path: string, parts: AdminParts): Promise<Answer> {
  switch (path) {
    case "/metrics":
      return { code: 200, type: METRICS_TYPE, text: await parts.metricsText() };
    case "/livez":
      return { code: 200, type: JSON_TYPE, text: '{"status":"live"}' };
    case "/readyz": {
      const { code, status } = await readiness(parts);
      return { code, type: JSON_TYPE, text: JSON.stringify({ status }) };
    }
    default:
      return { code: 404, type: JSON_TYPE, text: '{"paths":["/metrics","/livez","/readyz"]}' };
  }
}
