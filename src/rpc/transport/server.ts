/** The gRPC server: every service through one thin adapter, behind its gate, and an orderly end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SecureContextOptions } from "node:tls";
import type { ByteBudget } from "../../base/bytes/byte-budget.js";
import type { OpenConnections } from "../../base/event-loop/listening-port.js";
import { Cancellation } from "../../base/cancellation.js";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type {
  handleServerStreamingCall,
  handleUnaryCall,
  sendUnaryData,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Method } from "../../api/channel.js";
import { inQuietTurn } from "../../base/event-loop/quiet-turn.js";
import { descriptorSetBytes } from "../../api/descriptors.js";
import type { RequestQueue } from "../../base/event-loop/request-queue.js";
import { serviceMethod } from "../../api/methods.js";
import { GatewayError } from "../../base/errors.js";
import type { Log } from "../../observe/log.js";
import { AnswerEnd, AnswerWriter } from "./answer-writer.js";
import { BlockedReaders } from "./blocked-readers.js";
import { refuseCompressed } from "./compressed.js";
import { ANSWER_BYTES_MAX, GRPC_MESSAGE_BYTES_MAX } from "../call/bounds.js";
import type { Dispatcher } from "../call/dispatcher.js";
import type { ServerCall } from "../call/server-call.js";
import { Gate, Sized } from "./gate.js";
import { deadlineError } from "../call/lifetime.js";
import { type GrpcConnection, Listener, type ListenerOptions, UNAUTHENTICATED_MS } from "./listener.js";
import { decodeRequest } from "./long-message.js";
import { writeMetadata } from "../call/metadata.js";
import { addReflection } from "./reflection.js";
import { ReflectionGate } from "./reflection-gate.js";
import { PUBLIC_SERVICES, SERVED_SERVICES } from "../../api/service-list.js";
import { type StatusParts, statusOf } from "../call/status.js";
import { TunnelServer } from "./tunnel-server.js";

export interface GrpcServerOptions {
  readonly dispatcher: Pick<
    Dispatcher,
    "unary" | "stream" | "isFront" | "drain" | "admit" | "permissionOf" | "queueOf" | "refusedAtEdge"
  >;
  /** Who may connect, and how many. */
  readonly connections?: ListenerOptions | undefined;
  /** The memory for messages, of this and of other edges. Absent: unbounded. */
  readonly bodies?: ByteBudget | undefined;
  /** Where calls of this and of other edges wait for their start. Absent: they begin at once. */
  readonly queue?: Pick<RequestQueue, "isFree" | "push"> | undefined;
  /** The most calls at once on one connection. 1,000. */
  readonly concurrentStreamsMax?: number | undefined;
  /** The most calls at once over one tunnel. 10,000. */
  readonly tunnelCallsMax?: number | undefined;
  /** A reader that takes nothing for so long is cut. 30 s. */
  readonly blockedMsMax?: number | undefined;
  /** How long a silent connection waits before we ask whether the client is there. 60 s. */
  readonly keepaliveTimeMs?: number | undefined;
  readonly nowMs?: (() => number) | undefined;
  readonly log?: Log | undefined;
  /** True where callers with a key may ask for the protocol here. Default: they may not. */
  readonly reflection?: boolean | undefined;
}

export interface GrpcServer {
  /** Takes calls at `host:port`; the port 0 picks a free one. Rejects where the address is taken. */
  listen(address: string): Promise<{ readonly port: number }>;
  /** Shows another certificate from the next connection on. Only where it was made with TLS. */
  setCertificate(tls: SecureContextOptions): void;
  /** Accepts connections, and serves them once the port is closed; says how many those are. */
  holdPort(): () => number;
  /** Accepts what waits, and no more after that; what comes over the open connections is served. */
  closePort(): Promise<OpenConnections>;
  /**
   * Tells each client to make its next calls elsewhere, drains the dispatcher once the other edge needs it no more, and
   * closes. What runs longer than that ends with OVERLOADED.
   */
  drain(timeoutMs: number, otherEdge?: Promise<void>): Promise<void>;
}

/** Our public services, as health and reflection name them. */
export const SERVICE_NAMES: readonly string[] = Object.keys(PUBLIC_SERVICES);
/** A connection without calls is closed so that its client opens another when it needs one. */
const IDLE_MS = 1_800_000;
/** How long connections may take to close after the last call ended. */
const CLOSE_MS = 5_000;
const CLOSE_LOOK_MS = 5;

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  refuseCompressed();
  const gate = new Gate({
    dispatcher: options.dispatcher,
    listener: (): Listener => listener,
    bodies: options.bodies,
    queue: options.queue,
    slowMs: options.connections?.unauthenticatedMs ?? UNAUTHENTICATED_MS,
  });
  const server: Server = new Server({
    interceptors: [gate.interceptor],
    "grpc.max_receive_message_length": GRPC_MESSAGE_BYTES_MAX,
    "grpc.max_send_message_length": ANSWER_BYTES_MAX,
    "grpc.max_concurrent_streams": options.concurrentStreamsMax ?? 1_000,
    "grpc.keepalive_time_ms": options.keepaliveTimeMs ?? 60_000,
    "grpc.keepalive_timeout_ms": 20_000,
    "grpc.max_connection_idle_ms": IDLE_MS,
    // It counts every call and message for a service that is not served.
    "grpc.enable_channelz": 0,
  });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = new Listener(injector, options.connections ?? {});
  const edge = { ...options, gate, listener, readers: new BlockedReaders(options.blockedMsMax) };
  for (const service of Object.values(SERVED_SERVICES)) addMethods(server, Object.values(service), edge);
  const tunnels = new TunnelServer({
    dispatcher: options.dispatcher,
    queue: options.queue,
    callsMax: options.tunnelCallsMax,
    readers: edge.readers,
    log: options.log,
    onOpen: (peer) => {
      const connection = listener.connectionOf(peer);
      if (connection !== undefined) listener.trust(connection);
    },
  });
  tunnels.addTo(server);
  if (options.reflection === true) {
    const reflectionGate = new ReflectionGate(options.dispatcher, () => listener);
    addReflection(server, descriptorSetBytes, SERVICE_NAMES, (talk) => reflectionGate.enter(talk));
  }
  return {
    listen: (address) => listener.listen(address),
    setCertificate: (tls) => listener.setCertificate(tls),
    holdPort: () => listener.hold(),
    closePort: () => listener.close().then(() => listener),
    drain: async (timeoutMs, otherEdge) => {
      const startMs = performance.now();
      await listener.close();
      // A proxy does not repeat a call that it sent as the GOAWAY came: by now each connection has sent its first.
      injector.drain(timeoutMs + 2 * CLOSE_MS);
      // Behind it clients send no call any more, and what they had sent is read.
      await inQuietTurn(() => listener.receiving);
      await otherEdge;
      await options.dispatcher.drain(Math.max(0, timeoutMs - (performance.now() - startMs)));
      tunnels.close();
      // A connection ends once the last call over it is written out, of which the library tells nothing.
      for (const endMs = performance.now() + CLOSE_MS; listener.size > 0 && performance.now() < endMs;)
        await sleep(CLOSE_LOOK_MS);
      await shutDown(server);
    },
  };
}

/** A stream may never end by itself, so an orderly end is waited for but not for long. */
function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, CLOSE_MS);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** What the handlers of all methods share. */
interface Edge extends GrpcServerOptions {
  readonly gate: Gate;
  readonly listener: Listener;
  readonly readers: BlockedReaders;
}

function addMethods(server: Server, paths: readonly { readonly path: string }[], edge: Edge): void {
  const definition: Record<string, ServiceDefinition[string]> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const { path } of paths) {
    const method = serviceMethod(path);
    if (method === undefined) throw new Error(`the protocol has no method ${path}`);
    const requestDeserialize = (bytes: Buffer): Sized => sizedOf(method, bytes);
    definition[method.path] = { ...method, requestDeserialize, requestStream: false };
    handlers[method.path] = method.responseStream ? streamHandler(method, edge) : unaryHandler(method, edge);
  }
  server.addService(definition, handlers);
}

/** What cannot be decoded at all fails here, and grpc-js tells it; what is refused is told by the gate. */
function sizedOf(method: Method<unknown, unknown>, bytes: Buffer): Sized {
  try {
    return new Sized(decodeRequest(method, bytes), bytes.length);
  } catch (error) {
    if (error instanceof GatewayError) return new Sized(error, bytes.length);
    throw error;
  }
}

function unaryHandler(method: Method<unknown, unknown>, edge: Edge): handleUnaryCall<unknown, unknown> {
  const { dispatcher, log } = edge;
  const answer = async (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>): Promise<void> => {
    const life = new CallLife(call, edge);
    const outcome = await dispatcher.unary(method, call.request, serverCall(call, edge, life));
    life.end();
    if (outcome.kind === "refused") {
      done(statusOf(outcome.error, outcome.trailers));
      return;
    }
    call.sendMetadata(writeMetadata(outcome.head));
    done(null, outcome.message);
  };
  return (call, done) => {
    answer(call, done).catch((error: unknown) => done(failed(error, method, log)));
  };
}

function streamHandler(method: Method<unknown, unknown>, edge: Edge): handleServerStreamingCall<unknown, unknown> {
  const { dispatcher, log } = edge;
  const answer = async (call: ServerWritableStream<unknown, unknown>): Promise<void> => {
    const life = new CallLife(call, edge);
    const writer = new AnswerWriter(call, edge.readers, life.gone);
    const outcome = await dispatcher.stream(method, call.request, serverCall(call, edge, life), writer);
    writer.over();
    life.end();
    if (outcome.kind === "ended") call.end();
    else call.emit("error", statusOf(outcome.error, outcome.trailers));
  };
  return (call) => {
    answer(call).catch((error: unknown) => call.emit("error", failed(error, method, log)));
  };
}

/** An answer that could not be written, such as a header that is none: our fault, told as such. */
function failed(error: unknown, method: Method<unknown, unknown>, log: Log | undefined): StatusParts {
  log?.error({ path: method.path, err: error }, "an answer could not be written");
  return statusOf(new GatewayError("ERROR_REASON_INTERNAL"), {});
}

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** A call until its handler is done, and after that its answer until it is out. */
class CallLife {
  readonly gone = new Cancellation();
  readonly #call: AnyCall;
  readonly #readers: BlockedReaders;
  readonly #connection: GrpcConnection | undefined;
  #isOver = false;

  constructor(call: AnyCall, { listener, readers }: Edge) {
    this.#call = call;
    this.#readers = readers;
    this.#connection = listener.connectionOf(call.getPeer());
    if (this.#connection !== undefined) this.#connection.running += 1;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
    if (this.#connection !== undefined) this.#connection.running -= 1;
    AnswerEnd.watch(this.#call, this.#readers, this.#connection);
  }
}

function serverCall(call: AnyCall, { gate, nowMs = Date.now }: Edge, life: CallLife): ServerCall {
  const { metadata, peer, admission } = gate.entered(call.metadata);
  const { gone } = life;
  const deadline = Number(call.getDeadline());
  const timeoutMs = Number.isFinite(deadline) ? deadline - nowMs() : undefined;
  // The library tells a time of day, which may be set while the call runs.
  const endMs = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
  const cancel = (): void => {
    // It also comes after a call that ended well, and an error is dear.
    if (life.isOver) return;
    gone.abort(performance.now() >= endMs ? deadlineError() : new GatewayError("ERROR_REASON_CANCELLED"));
  };
  if (call.cancelled) cancel();
  else call.on("cancelled", cancel);
  return {
    metadata,
    signal: gone,
    timeoutMs,
    peer,
    local: false,
    admission,
  };
}
