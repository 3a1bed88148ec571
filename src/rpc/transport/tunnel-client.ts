/** The front end's end of one tunnel: many calls over one stream, for as long as it lasts. */
import { type Client, type ClientDuplexStream, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { CallOptions, Method, Reply, Sink } from "../../api/channel.js";
import type { TunnelFrame, TunnelRequest, TunnelResponse } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import { FRONT_HEADER } from "../call/client-address.js";
import { requestBytes } from "./message-bytes.js";
import { unreachable } from "../call/status.js";
import { type ClientPlace, StreamClientCall, UnaryClientCall } from "./tunnel-client-call.js";
import { checkFrame, MalformedFrame, TUNNEL } from "./tunnel-frame.js";
import { Outbox } from "./tunnel-outbox.js";

const CALL_ID_MAX = 0xffff_ffff;
const CLOSE_MS = 1_000;

export interface ClientTunnelOptions {
  /** With a connection of its own. */
  readonly client: Client;
  readonly frontToken: string;
  readonly onOpen: () => void;
  /** It broke, or never opened: `code` is the gRPC status that ended it. At most once. */
  readonly onLost: (code: status) => void;
}

type AnyCall = UnaryClientCall<unknown> | StreamClientCall<unknown>;

export class ClientTunnel {
  readonly #options: ClientTunnelOptions;
  readonly #stream: ClientDuplexStream<TunnelRequest, TunnelResponse>;
  readonly #outbox: Outbox;
  readonly #place: ClientPlace;
  readonly #calls = new Map<number, AnyCall>();
  #lastId = 0;
  #lost = false;

  constructor(options: ClientTunnelOptions) {
    this.#options = options;
    const metadata = new Metadata();
    metadata.set(FRONT_HEADER, options.frontToken);
    const { path, requestSerialize, responseDeserialize } = TUNNEL;
    const stream = options.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    this.#stream = stream;
    this.#outbox = new Outbox((frames) => stream.write({ frames }));
    this.#place = { outbox: this.#outbox, onEnd: (callId) => this.#calls.delete(callId) };
    stream.on("metadata", () => options.onOpen());
    stream.on("data", (message: TunnelResponse) => this.#take(message.frames));
    stream.on("drain", () => this.#outbox.drained());
    stream.on("error", (error: ServiceError) => this.#lose(error.code, error));
    stream.on("end", () => this.#lose(status.UNAVAILABLE, new Error("the core ended the tunnel")));
  }

  /** Calls that run over it. */
  get running(): number {
    return this.#calls.size;
  }

  /** True where the connection is behind, so that another one would serve better. */
  get blocked(): boolean {
    return this.#outbox.blocked;
  }

  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    return new Promise((resolve, reject) => {
      const call = new UnaryClientCall(this.#nextId(), this.#place, options, method, { resolve, reject });
      this.#open(call, method, request);
    });
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const call = new StreamClientCall(this.#nextId(), this.#place, options, method, { sink, resolve, reject });
      this.#open(call, method, request);
    });
  }

  /** Ends the tunnel; what still runs is cancelled. */
  close(): void {
    for (const call of this.#calls.values()) call.leave(new GatewayError("ERROR_REASON_CANCELLED"));
    this.#outbox.flush();
    this.#lost = true;
    this.#outbox.close();
    this.#stream.end();
    // A core that does not end its half in time must not keep this process.
    setTimeout(() => this.#stream.cancel(), CLOSE_MS).unref();
  }

  #open<Request, Response>(
    call: UnaryClientCall<Response> | StreamClientCall<Response>,
    method: Method<Request, Response>,
    request: Request,
  ): void {
    // The edge where calls of all messages stand in one table: only the call itself knows which it carries.
    this.#calls.set(call.callId, call as AnyCall);
    try {
      call.open(requestBytes(method, request));
    } catch (error) {
      call.onError(GatewayError.from(error));
    }
  }

  #take(frames: readonly TunnelFrame[]): void {
    for (const frame of frames) {
      if (this.#lost) return;
      const call = this.#calls.get(frame.callId);
      try {
        checkFrame(frame);
        // A frame for a call that has ended crossed its end on the way.
        call?.step(frame);
      } catch (error) {
        if (error instanceof MalformedFrame) this.#break(error);
        else call?.leave(GatewayError.from(error));
      }
    }
  }

  /** The core does not keep to the rules: nothing it says over this tunnel can be believed. */
  #break(error: MalformedFrame): void {
    this.#lose(status.INTERNAL, error);
    this.#stream.cancel();
  }

  #lose(code: status, cause: Error): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#outbox.close();
    this.#options.onLost(code);
    for (const call of this.#calls.values()) call.onError(unreachable(cause));
  }

  #nextId(): number {
    do this.#lastId = this.#lastId === CALL_ID_MAX ? 1 : this.#lastId + 1;
    while (this.#calls.has(this.#lastId));
    return this.#lastId;
  }
}
