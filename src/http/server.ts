/** The HTTP front end: it translates between clients and the service behind its channel, and decides nothing. */
import type { Server } from "node:http";
import type { SecureContextOptions } from "node:tls";
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteHandlerMethod } from "fastify";
import { BODY_BYTES_MAX } from "../base/bytes/body-limit.js";
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { listeningClock } from "../base/event-loop/listening-clock.js";
import { ListeningPort, type OpenConnections } from "../base/event-loop/listening-port.js";
import type { RequestQueue } from "../base/event-loop/request-queue.js";
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import type { Channel } from "../api/channel.js";
import { InferenceServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Format, FormatRoute, SourceBody } from "../formats/format.js";
import type { Log } from "../observe/log.js";
import { answerBrokenRequest, answerTooSlow, refuseBrokenPath, refuseError } from "./broken-request.js";
import { BodyGate } from "./body-gate.js";
import { readBodiesAsBytes } from "./body-reader.js";
import { Connections } from "./connections.js";
import { addConsoleRoutes } from "./console.js";
import { compressAnswers } from "./compression.js";
import { Cors } from "./cors.js";
import { createInnerServer, createNodeServer, HttpsServer } from "./node-server.js";
import { drain, listen, stopping } from "./drain.js";
import { type ClientAddressOf, Front, type FrontRefusal, type PrepareLong } from "./front.js";
import { answerCount } from "./count.js";
import { answerUnary, embeddingRoute, surfaceRoute } from "./unary.js";
import { clientGeneration, type GenerationParts } from "./generation.js";
import { hostProblem } from "./headers.js";
import { addHealthRoutes } from "./health.js";
import { addManagementRoutes } from "./management-routes.js";
import { addModelRoutes } from "./models.js";
import { addOpenRouterRoutes } from "./openrouter.js";
import { addPlaygroundRoute } from "./playground.js";
import { pathUnknown } from "./not-found.js";
import { Overload } from "./overload.js";
import { sendPiecewise } from "./piecewise.js";
import { HeartbeatTimer } from "./heartbeat-timer.js";
import { type RoutePermission, RouteTable } from "./routes.js";
import { Running } from "./running.js";
import { addSocketRoutes, type SocketLimits } from "./socket-routes.js";
import { answerSpeech } from "./speech.js";
import { streamEndMemory } from "./streamed-answer.js";
import { addStreamRoutes } from "./streams.js";
import { type FindNames, NamedItems } from "./named-items.js";
import { ItemCache } from "./item-cache.js";
import { type HttpMetrics, watch } from "./request-metrics.js";

export type { HttpMetrics } from "./request-metrics.js";

export interface HttpServerOptions extends SocketLimits {
  readonly channel: Channel;
  readonly formats: readonly Format[];
  /** Names the requests that the service never saw. */
  readonly requestIds: () => string;
  readonly log: Log;
  readonly metrics: HttpMetrics;
  readonly ready: () => Promise<boolean> | boolean;
  /** Proves to the service that the client's address comes from a front end of its own. */
  readonly frontToken?: string | undefined;
  /** Hears of refusals that the service never saw. Default: nobody does. */
  readonly onRefused?: ((refusal: FrontRefusal) => void) | undefined;
  /** Default 32 MiB. */
  readonly bodyBytesMax?: number;
  /** The memory for bodies, of this and of other edges. Absent: unbounded. */
  readonly bodies?: ByteBudget;
  /** Where requests of this and of other edges wait for their start. Absent: they begin at once. */
  readonly queue?: Pick<RequestQueue, "isFree" | "push" | "enter" | "accepted"> | undefined;
  /** The memory for what the ends of streams repeat. Default: 256 MiB, and a quarter of it for one key. */
  readonly kept?: ByteBudget;
  /** Default: the socket's other end. */
  readonly clientAddressOf?: ClientAddressOf | undefined;
  /** Default: its body comes into shared memory, where a service in this process leaves what it found. */
  readonly prepareLong?: PrepareLong | undefined;
  /** Default: long bodies are looked through on the event loop. */
  readonly findNames?: FindNames | undefined;
  /** Addresses from which any number of connections may come. Default: none. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  /** Default: no TLS. */
  readonly tls?: SecureContextOptions | undefined;
  /** How long headers may take, and a body before it must come at a least rate. Default 15 s. */
  readonly slowMs?: number;
  /** An idle stream is kept alive so often. Default 15 s. */
  readonly heartbeatMs?: number;
  /** Requests to models that may run at once. Default 4,096. */
  readonly streamsMax?: number;
  /** Open connections. Default 16,384. */
  readonly connectionsMax?: number;
  /** Of those, from one address. Default 4,096. */
  readonly connectionsPerAddressMax?: number;
  /** A reader that takes nothing for so long is cut. Default 30 s. */
  readonly blockedMsMax?: number;
  /** Origins whose pages may use the client API; `*` is any. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** Where the build of the console is. Absent: it is not served. */
  readonly consoleDirectory?: string | undefined;
  /** Monotonic milliseconds. Default: the process's. */
  readonly nowMs?: () => number;
  /** The time of day. Absent: no answer tells one. */
  readonly timeMs?: () => number;
}

export interface HttpServer {
  /** Port 0 takes a free one. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Shows another certificate from the next connection on. Only where it was made with `tls`. */
  setCertificate(tls: SecureContextOptions): void;
  /** Ends each connection with its next answer, so that no client has an idle one as the port closes. */
  leave(): void;
  /** Accepts connections, and serves them once the port is closed; says how many those are. */
  holdPort(): () => number;
  /** Accepts what waits, and no more after that; what comes over the open connections is served. */
  closePort(): Promise<OpenConnections>;
  /** Stops accepting, lets what runs finish, ends what still runs when the time is over, and closes. */
  drain(timeoutMs: number): Promise<void>;
  readonly app: FastifyInstance;
}

const PERMISSIONS: Readonly<Record<FormatRoute["kind"], RoutePermission>> = {
  generate: { scope: "chat", method: InferenceServiceService.streamGenerate.path },
  count: { scope: "chat" },
  embed: { scope: "embeddings", method: InferenceServiceService.embed.path },
  rerank: { scope: "rerank", method: InferenceServiceService.rerank.path },
  moderation: { scope: "moderations", method: InferenceServiceService.moderate.path },
  speech: { scope: "audio", method: InferenceServiceService.streamSpeech.path },
};
const STREAMS_MAX = 4_096;
const CONNECTIONS_MAX = 16_384;
const BLOCKED_MS_MAX = 30_000;
const CONNECTIONS_PER_ADDRESS_MAX = 4_096;
const SLOW_MS = 15_000;
/** Streams of management that are open at once. */
const WATCHING_MAX = 256;
/** How often slow requests are looked for. */
const SWEEP_MS = 1_000;

/** Builds the front end. It serves from `listen` on. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { channel, formats, requestIds, log, frontToken, nowMs = () => performance.now() } = options;
  const { bodyBytesMax = BODY_BYTES_MAX, slowMs = SLOW_MS } = options;
  const { clientAddressOf, onRefused, timeMs, prepareLong = inSharedMemory } = options;
  const own = { requestIds, log, frontToken, clientAddressOf, timeMs };
  const front = new Front({ channel, formats, prepareLong, onRefused, ...own });
  const running = new Running(options.streamsMax ?? STREAMS_MAX);
  const routes = new RouteTable();
  const cors = Cors.of(options.corsOrigins, routes);
  const overload = overloadOf(options, cors);
  let leaving = false;
  let draining = false;
  let refusing = false;
  const { app, ordinary } = frameworkOf(options, front, routes, { slowMs, bodyBytesMax, nowMs, overload });
  const connections = connectionsOf(app, options, slowMs, nowMs);
  const port = new ListeningPort(app.server);
  readBodiesAsBytes(app, bodyBytesMax);
  sendPiecewise(app);
  const gate = new BodyGate(app, front, bodyBytesMax, options.bodies);
  routes.watch(app);
  app.addHook("onRequest", (request, reply, done) => {
    watch(request, reply, options.metrics, nowMs);
    if (leaving) reply.raw.setHeader("connection", "close");
    cors?.share(request, reply);
    const permission = request.routeOptions.config.permission ?? "public";
    const early = earlyRefusal(request, routes, refusing && permission !== "public");
    if (early !== undefined) {
      if (request.is404 && cors?.answerPreflight(request, reply) === true) return;
      if (!request.is404) reply.header("connection", "close");
      return front.refuse(request, reply, early);
    }
    gate.pass(request, reply, permission, done);
  });
  refuseTheRest(app, front, routes, bodyBytesMax);
  addHealthRoutes(app, { ready: options.ready, isDraining: () => draining });
  addConsoleRoutes(app, options.consoleDirectory, routes);
  addReadRoutes(app, front, routes, timeMs);
  const generation = { front, running, lost: connections.lost, ...generationRulesOf(options, nowMs) };
  // They end when the server begins to stop, since they would not by themselves.
  const watching = new Running(WATCHING_MAX);
  addManagementRoutes(app, front, routes, { ...generation, running: watching });
  addGenerationRoutes(app, formats, generation);
  const upgrades = addSocketRoutes(app, ordinary, {
    generation,
    formats,
    connections,
    bodies: options.bodies,
    bodyBytesMax,
    slowMs,
    metrics: options.metrics,
    isDraining: () => draining,
    limits: options,
    enter: (metadata) => options.queue?.enter(() => options.channel.queueOf(metadata)),
  });
  return {
    app,
    listen: (host, port) => listen(app, host, port),
    setCertificate: (tls) => void (app.server instanceof HttpsServer && app.server.setSecureContext(tls)),
    leave: () => void (leaving = true),
    holdPort: () => (port.hold(), () => port.held),
    closePort: () => port.close().then(() => connections),
    drain: async (timeoutMs) => {
      draining = true;
      leaving = true;
      await port.close();
      upgrades.drain();
      watching.stopAll(stopping());
      await drain({ app, connections, running, port, onLate: () => (refusing = true) }, timeoutMs);
    },
  };
}

/** What clients read about models and about their key. */
function addReadRoutes(app: FastifyInstance, front: Front, routes: RouteTable, timeMs?: () => number): void {
  addModelRoutes(app, front, routes);
  addOpenRouterRoutes(app, front, timeMs);
}

type GenerationRules = Omit<GenerationParts, "front" | "running" | "lost">;

function generationRulesOf(options: HttpServerOptions, nowMs: () => number): GenerationRules {
  return {
    ...memoryOf(nowMs, options.findNames),
    kept: options.kept ?? streamEndMemory(),
    timer: new HeartbeatTimer(options.heartbeatMs, nowMs, listeningMsOf(options)),
    blockedMsMax: options.blockedMsMax ?? BLOCKED_MS_MAX,
  };
}

/** Undefined where requests begin at once. */
function overloadOf(options: HttpServerOptions, cors: Cors | undefined): Overload | undefined {
  const { queue, formats, requestIds: newRequestId, metrics, channel } = options;
  return queue && new Overload({ queue, formats, newRequestId, metrics, channel, cors });
}

/** The clock by which clients are waited for. */
function listeningMsOf({ nowMs }: HttpServerOptions): () => number {
  return nowMs ?? listeningClock.nowMs;
}

function memoryOf(nowMs: () => number, findNames: FindNames | undefined): Pick<GenerationParts, "told" | "named"> {
  const told = new ItemCache(nowMs);
  return { told, named: new NamedItems(told, findNames) };
}

/** The framework over its server, and a second server beside it for connections that the first one hands on. */
function frameworkOf(
  options: HttpServerOptions,
  front: Front,
  routes: RouteTable,
  bounds: {
    readonly slowMs: number;
    readonly bodyBytesMax: number;
    readonly nowMs: () => number;
    readonly overload: Overload | undefined;
  },
): { readonly app: FastifyInstance; readonly ordinary: Server } {
  const { slowMs, bodyBytesMax, nowMs, overload } = bounds;
  let ordinary: Server | undefined;
  const app = Fastify({
    bodyLimit: bodyBytesMax,
    trustProxy: false,
    // A request that reaches a stopping server gets our own envelope, from the first hook.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1_024 },
    // No route has a schema, since the services check; without these two the compilers of schemas are loaded for
    // nothing.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: (handler) => {
      const listener = overload?.before(handler) ?? handler;
      ordinary = createInnerServer(listener, slowMs);
      return createNodeServer(listener, options.tls, slowMs);
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options.requestIds()),
    frameworkErrors: (error, request, reply) => {
      watch(request, reply, options.metrics, nowMs);
      void refuseBrokenPath(front, routes, request, reply, error.code === "FST_ERR_MAX_PARAM_LENGTH");
    },
  });
  compressAnswers(app);
  if (ordinary === undefined) throw new Error("the framework made no server");
  return { app, ordinary };
}

function connectionsOf(
  app: FastifyInstance,
  options: HttpServerOptions,
  slowMs: number,
  nowMs: () => number,
): Connections {
  const { queue } = options;
  app.server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
  if (queue !== undefined) app.server.on("connection", () => queue.accepted());
  return new Connections(app.server, nowMs, listeningMsOf(options), {
    isSecure: options.tls !== undefined,
    perAddressMax: options.connectionsPerAddressMax ?? CONNECTIONS_PER_ADDRESS_MAX,
    isProxy: options.isProxy,
    slowMs,
    blockedMsMax: options.blockedMsMax ?? BLOCKED_MS_MAX,
    sweepMs: Math.min(SWEEP_MS, slowMs, options.blockedMsMax ?? BLOCKED_MS_MAX),
    onSlow: (socket) => answerTooSlow(socket, options.requestIds()),
  });
}

/** What no route answers, and what a route failed with. */
function refuseTheRest(app: FastifyInstance, front: Front, routes: RouteTable, bodyBytesMax: number): void {
  app.setNotFoundHandler((request, reply) =>
    front.refuse(request, reply, pathUnknown(request.method, request.url, routes, request.headers)),
  );
  app.setErrorHandler((error, request, reply) => refuseError(front, request, reply, error, bodyBytesMax));
}

/** What is refused before anything of the body is read, and whoever asks; undefined where nothing is. */
function earlyRefusal(request: FastifyRequest, routes: RouteTable, stops: boolean): GatewayError | undefined {
  const problem = hostProblem(request.raw);
  if (problem !== undefined) return new GatewayError("ERROR_REASON_BODY_INVALID", { problem });
  // Answered before its body is read: an unknown path needs no key, so anybody could send one.
  if (request.is404) return pathUnknown(request.method, request.url, routes, request.headers);
  return stops ? stopping() : undefined;
}

function addGenerationRoutes(app: FastifyInstance, formats: readonly Format[], parts: GenerationParts): void {
  for (const format of formats) addFormatRoutes(app, format, parts);
  addPlaygroundRoute(app, formats, parts);
  addStreamRoutes(app, formats, parts);
}

function addFormatRoutes(app: FastifyInstance, format: Format, parts: GenerationParts): void {
  for (const { method, path, kind } of format.routes) {
    const config = { permission: PERMISSIONS[kind], isClientApi: true, format };
    app.route({ method, url: path, config, handler: handlerOf(kind, format, parts) });
  }
}

function handlerOf(kind: FormatRoute["kind"], format: Format, parts: GenerationParts): RouteHandlerMethod {
  switch (kind) {
    case "generate":
      return (request, reply) => clientGeneration(request, reply, format, parts).run();
    case "speech":
      return (request, reply) => answerSpeech(request, reply, format, parts);
    case "count":
      return (request, reply) => answerCount(request, reply, format, parts.front);
    default: {
      const route = kind === "embed" ? embeddingRoute(format) : surfaceRoute(kind, format);
      return (request, reply) => answerUnary(request, reply, { format, route }, parts);
    }
  }
}

function noSchemas(): never {
  throw new Error("a route has a schema, but the services check what comes in");
}

async function inSharedMemory(source: SourceBody): Promise<SourceBody> {
  return { ...source, body: await sharedBytes([source.body], source.body.length) };
}
