/** The HTTP front end: it translates between clients and the service behind its channel, and decides nothing. */
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteHandlerMethod } from "fastify";
import type { Channel } from "../api/channel.js";
import { GatewayError } from "../errors.js";
import type { Format, FormatRoute } from "../formats/format.js";
import type { Log } from "../observe/log.js";
import { bodyProblem, checkBody, mayReadAtOnce } from "./body-check.js";
import { answerBrokenRequest, refuseBrokenPath, refuseError } from "./broken-request.js";
import { Connections } from "./connections.js";
import { drain, listen, stopping } from "./drain.js";
import { Front } from "./front.js";
import { answerCount } from "./count.js";
import { answerEmbedding } from "./embedding.js";
import { answerGeneration, type GenerationParts } from "./generation.js";
import { addHealthRoutes } from "./health.js";
import { addManagementRoutes } from "./management.js";
import { addModelRoutes, SHARED_MODELS } from "./models.js";
import { pathUnknown } from "./not-found.js";
import { Pulse } from "./pulse.js";
import { RouteTable } from "./routes.js";
import { Running } from "./running.js";
import { addStreamRoutes } from "./streams.js";
import { type HttpMetrics, watch } from "./watch.js";

export type { HttpMetrics } from "./watch.js";

export interface HttpServerOptions {
  readonly channel: Channel;
  readonly formats: readonly Format[];
  /** Names the requests that the service never saw. */
  readonly requestIds: () => string;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly metricsText: () => Promise<string>;
  readonly ready: () => Promise<boolean> | boolean;
  /** Proves to the service that the client's address comes from a front end of its own. */
  readonly frontToken?: string | undefined;
  /** Default 32 MiB. */
  readonly bodyBytesMax?: number;
  /** An idle stream is kept alive so often. Default 15 s. */
  readonly heartbeatMs?: number;
  /** Requests to models that may run at once. Default 4,096. */
  readonly streamsMax?: number;
  /** Open connections. Default 16,384. */
  readonly connectionsMax?: number;
  /** A reader that takes nothing for so long is cut. Default 30 s. */
  readonly blockedMsMax?: number;
  /** Monotonic milliseconds. Default: the process's. */
  readonly nowMs?: () => number;
}

export interface HttpServer {
  /** Port 0 takes a free one. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops accepting, lets what runs finish, ends what still runs when the time is over, and closes. */
  drain(timeoutMs: number): Promise<void>;
  readonly app: FastifyInstance;
}

const BODY_BYTES_MAX = 33_554_432;
const HEARTBEAT_MS = 15_000;
const STREAMS_MAX = 4_096;
const CONNECTIONS_MAX = 16_384;
const BLOCKED_MS_MAX = 30_000;
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
// Longer than the 60 s that load balancers keep a connection, so that they, not we, end it.
const KEEP_ALIVE_MS = 75_000;

/** Builds the front end. It serves from `listen` on. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { channel, formats, requestIds, log, frontToken, nowMs = () => performance.now() } = options;
  const bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
  const front = new Front({ channel, formats, requestIds, log, frontToken });
  const running = new Running(options.streamsMax ?? STREAMS_MAX);
  const routes = new RouteTable();
  let draining = false;
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    trustProxy: false,
    // A request that reaches a stopping server gets our own envelope, from the first hook below.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_024 },
    // No route has a schema, since the services check; without these two the compilers of schemas are loaded for
    // nothing.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: 16_384,
      insecureHTTPParser: false,
      noDelay: true,
      // Refused below, in the envelope.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, requestIds()),
    frameworkErrors: (error, request, reply) => {
      watch(request, reply, options.metrics, nowMs);
      void refuseBrokenPath(front, routes, request, reply, error.code === "FST_ERR_MAX_PARAM_LENGTH");
    },
  });
  app.server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
  const connections = new Connections(app.server, nowMs);
  readBodiesAsBytes(app);
  routes.watch(app);
  app.addHook("onRequest", (request, reply, done) => {
    watch(request, reply, options.metrics, nowMs);
    const permission = request.routeOptions.config.permission ?? "public";
    const early = earlyRefusal(request, routes, draining && permission !== "public");
    if (early !== undefined) {
      if (!request.is404) reply.header("connection", "close");
      front.refuse(request, reply, early);
      return;
    }
    const problem = bodyProblem(request, bodyBytesMax);
    if (mayReadAtOnce(request, problem)) done();
    else checkBody(front, request, reply, permission, problem).then(() => done(), done);
  });
  app.setNotFoundHandler((request, reply) =>
    front.refuse(request, reply, pathUnknown(request.method, request.url, routes)),
  );
  app.setErrorHandler((error, request, reply) => refuseError(front, request, reply, error, bodyBytesMax));
  addHealthRoutes(app, { ready: options.ready, metricsText: options.metricsText, isDraining: () => draining });
  addModelRoutes(app, front, routes, SHARED_MODELS);
  addManagementRoutes(app, front, routes);
  const generation = {
    front,
    running,
    lost: connections.lost,
    pulse: new Pulse(options.heartbeatMs ?? HEARTBEAT_MS, nowMs),
    blockedMsMax: options.blockedMsMax ?? BLOCKED_MS_MAX,
  };
  addGenerationRoutes(app, formats, generation, routes);
  return {
    app,
    listen: (host, port) => listen(app, host, port),
    drain: (timeoutMs) => {
      draining = true;
      return drain(app, connections, running, timeoutMs);
    },
  };
}

/** What is refused before anything of the body is read, and whoever asks; undefined where nothing is. */
function earlyRefusal(request: FastifyRequest, routes: RouteTable, stops: boolean): GatewayError | undefined {
  // Without a host nobody knows for whom a request is meant (RFC 9112, 3.2).
  if (request.headers.host === undefined && request.raw.httpVersion === "1.1")
    return new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "the HTTP request names no host" });
  // Answered before its body is read: an unknown path needs no key, so anybody could send one.
  if (request.is404) return pathUnknown(request.method, request.url, routes);
  return stops ? stopping() : undefined;
}

function addGenerationRoutes(
  app: FastifyInstance,
  formats: readonly Format[],
  parts: GenerationParts,
  routes: RouteTable,
): void {
  for (const format of formats) addFormatRoutes(app, format, parts, routes);
  addStreamRoutes(app, formats, parts);
}

function addFormatRoutes(app: FastifyInstance, format: Format, parts: GenerationParts, routes: RouteTable): void {
  if (format.models !== undefined) addModelRoutes(app, parts.front, routes, format.models, format);
  for (const { method, path, kind } of format.routes) {
    const config = { permission: { scope: kind === "embed" ? "embeddings" : "chat" }, format };
    app.route({ method, url: path, config, handler: handlerOf(kind, format, parts) });
  }
}

function handlerOf(kind: FormatRoute["kind"], format: Format, parts: GenerationParts): RouteHandlerMethod {
  switch (kind) {
    case "generate":
      return (request, reply) => answerGeneration(request, reply, format, parts);
    case "count":
      return (request, reply) => answerCount(request, reply, format, parts.front);
    case "embed":
      return (request, reply) => answerEmbedding(request, reply, format, parts);
  }
}

/** Bodies stay as they came: the service reads them, or the mapper of the management routes. */
function readBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
}

function noSchemas(): never {
  throw new Error("a route has a schema, but the services check what comes in");
}
