/** What every request gets before anything else looks at it: a measurement, and headers against sniffing. */
import type { FastifyReply, FastifyRequest } from "fastify";

/** What the front end measures. */
export interface HttpMetrics {
  /** One answered request. `route` is the route's pattern, or `unknown`; 499 means that the client left. */
  observe(sample: { readonly route: string; readonly status: number; readonly durationMs: number }): void;
}

const CLIENT_LEFT = 499;

export function watch(request: FastifyRequest, reply: FastifyReply, metrics: HttpMetrics, nowMs: () => number): void {
  const startMs = nowMs();
  const response = reply.raw;
  reply.header("x-content-type-options", "nosniff");
  if (request.url.startsWith("/api/")) reply.header("cache-control", "no-store");
  // Without a listener a write to a connection that just closed would end the process.
  response.on("error", () => response.destroy());
  response.on("close", () => {
    const status = response.writableFinished ? response.statusCode : CLIENT_LEFT;
    // An unknown path is no label: there are as many as anybody likes to send.
    const route = request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
    metrics.observe({ route, status, durationMs: nowMs() - startMs });
  });
}
