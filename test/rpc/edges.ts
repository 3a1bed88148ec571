/** The channels to one core: in process, in process with every message encoded, over real gRPC, and over a tunnel. */
import { ListRequestsRequest } from "../../src/api/index.js";
import type { CallMetadata, CallOptions, Channel, Method, Sink } from "../../src/api/channel.js";
import { createInProcessChannel } from "../../src/rpc/transport/in-process-channel.js";
import { createRemoteChannel } from "../../src/rpc/transport/remote-channel.js";
import { createGrpcServer } from "../../src/rpc/transport/server.js";
import type { ServerCall } from "../../src/rpc/call/server-call.js";
import { FRONT_TOKEN, openCore, type OpenCore } from "./open-core.js";
import { untilTunnelled, watched } from "./tunnel-peer.js";

export const EDGES = ["in process", "in process, encoded", "over gRPC", "over a tunnel"] as const;
export type EdgeName = (typeof EDGES)[number];

export interface Edge {
  readonly core: OpenCore;
  readonly channel: Channel;
  readonly close: () => Promise<void>;
}

export async function openEdge(name: EdgeName): Promise<Edge> {
  const core = await openCore();
  if (name === "in process" || name === "in process, encoded") {
    const channel = createInProcessChannel(core.dispatcher, { encode: name === "in process, encoded" });
    return { core, channel, close: () => core.close() };
  }
  const calls: ServerCall[] = [];
  const server = createGrpcServer({ dispatcher: watched(core.dispatcher, calls) });
  const { port } = await server.listen("127.0.0.1:0");
  const frontToken = name === "over a tunnel" ? FRONT_TOKEN : undefined;
  const channel = createRemoteChannel({ address: `127.0.0.1:${port}`, frontToken });
  if (frontToken !== undefined) await untilTunnelled(channel, calls, (await core.makeKey("acme")).secret);
  return {
    core,
    channel,
    close: async () => {
      await channel.close();
      await server.drain(0);
      await core.close();
    },
  };
}

/** Options of a call with a key. */
export function withKey(secret: string, more: Partial<CallOptions> = {}): CallOptions {
  return {
    signal: new AbortController().signal,
    ...more,
    metadata: { authorization: `Bearer ${secret}`, ...more.metadata },
  };
}

/** A sink that keeps what it is given, in order; it takes as many messages as it is told to before it says stop. */
export class KeepingSink<Message> implements Sink<Message> {
  readonly steps: string[] = [];
  readonly messages: Message[] = [];
  headMetadata: CallMetadata | undefined;
  #room: number;
  #onDrain: (() => void) | undefined;
  #onMessage: ((count: number) => void) | undefined;

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room;
  }

  head(metadata: CallMetadata): void {
    this.steps.push("head");
    this.headMetadata = metadata;
  }

  data(message: Message): boolean {
    this.steps.push("data");
    this.messages.push(message);
    this.#onMessage?.(this.messages.length);
    this.#room -= 1;
    return this.#room > 0;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** Makes room and says so. */
  drain(room: number): void {
    this.#room = room;
    this.#onDrain?.();
  }

  /** Resolves once so many messages are there. */
  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      const check = (now: number): void => {
        if (now >= count) resolve();
      };
      this.#onMessage = check;
      check(this.messages.length);
    });
  }
}

/** A list of requests without filters. */
export function listed(accountId: string, more: Partial<ListRequestsRequest> = {}): ListRequestsRequest {
  return { ...ListRequestsRequest.decode(new Uint8Array()), accountId, ...more };
}

/** Asks a core in this process with a key, over the channel that encodes every message. Rejects with the refusal. */
export async function ask<Request, Response>(
  { dispatcher }: Pick<OpenCore, "dispatcher">,
  secret: string,
  method: Method<Request, Response>,
  request: Request,
): Promise<Response> {
  const channel = createInProcessChannel(dispatcher, { encode: true });
  return (await channel.unary(method, request, withKey(secret))).message;
}
