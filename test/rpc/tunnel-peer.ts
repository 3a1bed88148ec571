/** The other end of a tunnel in tests: frames by hand, a connection that can be cut, a dispatcher that tells all. */
import { createServer, connect, type Server as TcpServer, type Socket } from "node:net";
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { Cancellation } from "../../src/base/cancellation.js";
import type { Channel } from "../../src/api/channel.js";
import {
  KeyServiceService,
  TunnelFrame,
  TunnelFrameKind,
  type TunnelRequest,
  type TunnelResponse,
  TunnelServiceService,
} from "../../src/api/index.js";
import type { Dispatcher } from "../../src/rpc/call/dispatcher.js";
import type { ServerCall } from "../../src/rpc/call/server-call.js";
import { freePort } from "../support/free-port.mjs";

const { tunnel } = TunnelServiceService;

/** A tunnel whose frames are written by hand. */
export class HandTunnel {
  readonly messages: TunnelResponse[] = [];
  /** How the tunnel ended. */
  readonly ended: Promise<ServiceError | undefined>;
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<TunnelRequest, TunnelResponse>;
  #onMessage: (() => void) | undefined;

  constructor(address: string, frontToken: string) {
    this.#client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    const metadata = new Metadata();
    metadata.set("x-tollgate-front", frontToken);
    const { path, requestSerialize, responseDeserialize } = tunnel;
    this.#stream = this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    this.#stream.on("data", (message: TunnelResponse) => {
      this.messages.push(message);
      this.#onMessage?.();
    });
    this.ended = new Promise((resolve) => {
      this.#stream.once("error", resolve);
      this.#stream.once("end", () => setImmediate(() => resolve(undefined)));
    });
  }

  get frames(): TunnelFrame[] {
    return this.messages.flatMap(({ frames }) => frames);
  }

  send(...frames: Partial<TunnelFrame>[]): void {
    this.#stream.write({ frames: frames.map(frameWith) });
  }

  /** Resolves once the frames that came satisfy the condition. */
  until(condition: (frames: readonly TunnelFrame[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onMessage = () => {
        if (condition(this.frames)) resolve();
      };
      this.#onMessage();
    });
  }

  close(): void {
    this.#stream.cancel();
    this.#client.close();
  }
}

/** A frame of which only what matters is said. */
export function frameWith(more: Partial<TunnelFrame>): TunnelFrame {
  return Object.assign(TunnelFrame.decode(new Uint8Array()), more);
}

/** The frame that opens a call. */
export function opening(callId: number, path: string, secret: string, data: Buffer): Partial<TunnelFrame> {
  return {
    callId,
    kind: TunnelFrameKind.TUNNEL_FRAME_KIND_HEAD,
    method: path,
    headers: `x-api-key:${secret}\n`,
    data,
    windowBytes: 256 * 1024,
  };
}

/** A connection to a server that can be cut and mended. */
export class Wire {
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: TcpServer | undefined;
  #port = 0;

  constructor(target: number) {
    this.#target = target;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  async mend(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.#target, "127.0.0.1");
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => this.#sockets.delete(one));
      }
    });
    // One that is there to be taken again after a cut.
    this.#port ||= await freePort();
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#server = server;
  }

  async cut(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/**
 * Resolves once what a channel is asked goes through a tunnel: where that takes long to open, as on a busy machine,
 * calls go by themselves. `calls` are those that came to the core.
 */
export async function untilTunnelled(channel: Channel, calls: readonly ServerCall[], secret: string): Promise<void> {
  const options = { metadata: { authorization: `Bearer ${secret}` }, signal: new Cancellation() };
  do await channel.unary(KeyServiceService.getCaller, {}, options);
  while (calls.at(-1)?.local !== true);
}

/** The same dispatcher, telling of every call that comes to it. */
export function watched(
  dispatcher: Dispatcher,
  calls: ServerCall[],
): Pick<Dispatcher, "unary" | "stream" | "isFront" | "drain" | "admit" | "permissionOf" | "queueOf" | "refusedAtEdge"> {
  return {
    unary: (method, request, call) => {
      calls.push(call);
      return dispatcher.unary(method, request, call);
    },
    stream: (method, request, call, sink) => {
      calls.push(call);
      return dispatcher.stream(method, request, call, sink);
    },
    isFront: (metadata) => dispatcher.isFront(metadata),
    admit: (permission, origin, method) => dispatcher.admit(permission, origin, method),
    permissionOf: (path) => dispatcher.permissionOf(path),
    queueOf: (metadata) => dispatcher.queueOf(metadata),
    refusedAtEdge: (thrown, refusal) => dispatcher.refusedAtEdge(thrown, refusal),
    drain: (timeoutMs) => dispatcher.drain(timeoutMs),
  };
}
