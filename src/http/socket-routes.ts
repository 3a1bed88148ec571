/** The addresses where clients may open a WebSocket, and how many of what they may have there. */
import type { Server } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { ByteBudget } from "../base/bytes/byte-budget.js";
import { InferenceServiceService } from "../api/index.js";
import { Allowances } from "../base/event-loop/pace.js";
import type { Format } from "../formats/format.js";
import { answerBrokenRequest } from "./broken-request.js";
import type { Connections } from "./connections.js";
import type { GenerationParts } from "./generation.js";
import type { HttpMetrics } from "./request-metrics.js";
import type { SocketParts } from "./socket-session.js";
import { Upgrades } from "./upgrades.js";

const PERMISSION = { scope: "chat", method: InferenceServiceService.streamGenerate.path } as const;
const SOCKETS_MAX = 4_096;
const SOCKETS_PER_KEY_MAX = 256;
/** As long as OpenAI keeps one. */
const AGE_MS_MAX = 3_600_000;
/** Of all that connections may go on from, and a quarter of it for one key. */
const TURN_BYTES_MAX = 256 * 1024 * 1024;

export interface SocketLimits {
  /** Open WebSockets. Default 4,096. */
  readonly socketsMax?: number | undefined;
  /** Of those, of one key. Default 256. */
  readonly socketsPerKeyMax?: number | undefined;
  /** An older WebSocket takes no more messages. Default one hour. */
  readonly socketAgeMsMax?: number | undefined;
}

export interface SocketRouteParts {
  readonly generation: GenerationParts;
  readonly formats: readonly Format[];
  readonly connections: Connections;
  readonly bodies: ByteBudget | undefined;
  readonly bodyBytesMax: number;
  readonly slowMs: number;
  readonly metrics: HttpMetrics;
  readonly isDraining: () => boolean;
  readonly limits: SocketLimits;
  readonly enter: SocketParts["enter"];
}

/** Adds a route for each, for refusals, and takes the upgrades. `ordinary` takes what is no good request for one. */
export function addSocketRoutes(app: FastifyInstance, ordinary: Server, parts: SocketRouteParts): Upgrades {
  const { generation, connections, metrics, limits, ...others } = parts;
  const { front, running, kept, told, named, timer, blockedMsMax } = generation;
  connections.watch(ordinary);
  ordinary.on("clientError", (error, stream) => {
    if (stream instanceof Socket) answerBrokenRequest(error, stream, front.newRequestId());
  });
  const [path = ""] = others.formats.flatMap(({ socket }) => socket?.path ?? []);
  const upgrades = new Upgrades(app.server, {
    ...others,
    front,
    connections,
    ordinary,
    permission: PERMISSION,
    channel: front.channel,
    running,
    kept,
    told,
    named,
    prepared: (source, holder) => front.prepared(source, holder),
    timer,
    blockedMsMax,
    turns: new ByteBudget(TURN_BYTES_MAX),
    allowances: new Allowances(timer.nowMs),
    newRequestId: () => front.newRequestId(),
    onRefused: (refusal) => front.tell(refusal),
    onAnswered: (status, durationMs) => metrics.observe({ route: path, status, durationMs }),
    socketsMax: limits.socketsMax ?? SOCKETS_MAX,
    socketsPerKeyMax: limits.socketsPerKeyMax ?? SOCKETS_PER_KEY_MAX,
    ageMsMax: limits.socketAgeMsMax ?? AGE_MS_MAX,
  });
  for (const format of others.formats) {
    if (format.socket === undefined) continue;
    const config = { permission: PERMISSION, format };
    app.get(format.socket.path, { exposeHeadRoute: false, config }, async (request, reply) => {
      await upgrades.admit(request.raw);
      front.refuse(request, reply, upgrades.refusalOf(request.raw));
      return reply;
    });
  }
  return upgrades;
}
