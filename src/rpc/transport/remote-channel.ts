/** The channel to a core in another process, over gRPC. */
import type { CancelSignal } from "../../base/cancellation.js";
import { Client, credentials, status } from "@grpc/grpc-js";
import type { ChannelCredentials, ClientReadableStream, Metadata, ServiceError } from "@grpc/grpc-js";
import type { Admission, CallMetadata, CallOptions, Channel, Entry, Method, Reply, Sink } from "../../api/channel.js";
import { GatewayError } from "../../base/errors.js";
import { ANSWER_BYTES_MAX, GRPC_MESSAGE_BYTES_MAX } from "../call/bounds.js";
import { Admissions } from "./admissions.js";
import { Connections } from "./connections.js";
import { goneError, refusedAtOnce } from "../call/lifetime.js";
import { readMetadata, writeMetadata } from "../call/metadata.js";
import { errorOf } from "../call/status.js";
import { TunnelChannel } from "./tunnel-channel.js";
import { Tunnels } from "./tunnels.js";

const TUNNELS_MAX = 4;
/** What a stream takes before its reader says more: with HTTP/2's own 64 KiB a tunnel waits for each round trip. */
const FLOW_WINDOW_BYTES = 4 * 1024 * 1024;

export interface RemoteChannelOptions {
  /** `host:port` or `unix:path` of the core. */
  readonly address: string;
  /** Asked for each new connection, since certificates are renewed. Absent: no TLS. */
  readonly credentials?: (() => ChannelCredentials) | undefined;
  /** How long an idle connection waits before it asks whether the core is there. 30 s. */
  readonly keepaliveTimeMs?: number | undefined;
  /** How long it waits for that answer before the connection counts as lost. 10 s. */
  readonly keepaliveTimeoutMs?: number | undefined;
  readonly nowMs?: (() => number) | undefined;
  /** What our own front ends show. With it calls share tunnels where the core lets them; else each goes by itself. */
  readonly frontToken?: string | undefined;
  /** The most tunnels, each on a connection of its own. 4. */
  readonly tunnelsMax?: number | undefined;
  /** From 0 to 1: spreads the moments at which lost tunnels are opened again. */
  readonly random?: (() => number) | undefined;
}

export function createRemoteChannel(options: RemoteChannelOptions): Channel {
  const alone = new RemoteChannel(options);
  const { frontToken } = options;
  if (frontToken === undefined || frontToken === "") return alone;
  const tunnels = new Tunnels({
    connect: () => connect(options),
    frontToken,
    tunnelsMax: options.tunnelsMax ?? TUNNELS_MAX,
    random: options.random ?? Math.random,
  });
  return new TunnelChannel(tunnels, alone);
}

function connect(options: RemoteChannelOptions): Client {
  return new Client(options.address, options.credentials?.() ?? credentials.createInsecure(), {
    "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
    "grpc.max_send_message_length": GRPC_MESSAGE_BYTES_MAX,
    "grpc.keepalive_time_ms": options.keepaliveTimeMs ?? 30_000,
    "grpc.keepalive_timeout_ms": options.keepaliveTimeoutMs ?? 10_000,
    "grpc.keepalive_permit_without_calls": 1,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 5_000,
    // A call that costs money is never sent twice behind our back.
    "grpc.enable_retries": 0,
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc-node.flow_control_window": FLOW_WINDOW_BYTES,
  });
}

/** Each call by itself, on connections that are opened as they are needed. */
class RemoteChannel implements Channel {
  readonly #admissions = new Admissions(this);
  readonly #connections: Connections;
  readonly #nowMs: () => number;

  constructor(options: RemoteChannelOptions) {
    this.#nowMs = options.nowMs ?? Date.now;
    this.#connections = new Connections(() => connect(options));
  }

  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    return this.#admissions.admit(entry, metadata);
  }

  queueOf(metadata: CallMetadata): string {
    return this.#admissions.queueOf(metadata);
  }

  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    return new Promise((resolve, reject) => {
      const early = refusedAtOnce(options);
      if (early !== undefined) {
        reject(early);
        return;
      }
      const connection = this.#connections.take();
      let head: CallMetadata = {};
      const cancel = (): void => call.cancel();
      const done = (error: ServiceError | null, message?: Response): void => {
        connection.release();
        options.signal.removeEventListener("abort", cancel);
        if (error !== null) reject(options.signal.aborted ? goneError(options.signal) : errorOf(error));
        else if (message === undefined) reject(new GatewayError("ERROR_REASON_INTERNAL"));
        else resolve({ message, head });
      };
      const call = connection.client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        writeMetadata(options.metadata),
        this.#callOptions(options),
        done,
      );
      call.on("metadata", (metadata: Metadata) => {
        head = readMetadata(metadata);
      });
      options.signal.addEventListener("abort", cancel, { once: true });
    });
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    const early = refusedAtOnce(options);
    if (early !== undefined) return Promise.reject(early);
    const connection = this.#connections.take();
    const call = connection.client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      writeMetadata(options.metadata),
      this.#callOptions(options),
    );
    call.once("status", () => connection.release());
    return pour(call, sink, options.signal);
  }

  close(): Promise<void> {
    this.#connections.close();
    return Promise.resolve();
  }

  #callOptions(options: CallOptions): { deadline?: number } {
    return options.timeoutMs === undefined ? {} : { deadline: this.#nowMs() + options.timeoutMs };
  }
}

/** Pours a stream into a sink at the sink's pace. */
function pour<Response>(
  call: ClientReadableStream<Response>,
  sink: Sink<Response>,
  signal: CancelSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: GatewayError | undefined;
    let isOver = false;
    const cancel = (): void => {
      over(goneError(signal));
      call.cancel();
    };
    const over = (error: GatewayError | undefined): void => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", cancel);
      if (error === undefined) resolve();
      else reject(error);
    };
    sink.onDrain(() => call.resume());
    call.on("metadata", (metadata: Metadata) => {
      if (!isOver) sink.head(readMetadata(metadata));
    });
    call.on("data", (message: Response) => {
      if (!isOver && !sink.data(message)) call.pause();
    });
    call.on("error", (error: ServiceError) => {
      failure = errorOf(error);
      // Messages that came before a refusal are still delivered; after a lost caller or deadline nobody waits for them.
      if (error.code === status.CANCELLED || error.code === status.DEADLINE_EXCEEDED) over(failure);
    });
    // grpc-js tells the status first; the end comes once every message before it was read.
    call.on("end", () => over(failure));
    signal.addEventListener("abort", cancel, { once: true });
  });
}
