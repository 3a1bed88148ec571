/** The core's end of the tunnels: frames in, each call through the dispatcher as any other, frames out. */
import {
  type handleBidiStreamingCall,
  type Server,
  type ServerDuplexStream,
  type ServiceDefinition,
  status,
} from "@grpc/grpc-js";
import { TunnelFrameKind, type TunnelFrame, type TunnelRequest, type TunnelResponse } from "../../api/index.js";
import { serviceMethod } from "../../api/methods.js";
import type { RequestQueue } from "../../base/event-loop/request-queue.js";
import { GatewayError } from "../../base/errors.js";
import type { Log } from "../../observe/log.js";
import { peerAddress } from "../call/client-address.js";
import type { BlockedReaders } from "./blocked-readers.js";
import type { Dispatcher } from "../call/dispatcher.js";
import { readHeaderLines } from "./header-lines.js";
import { readMetadata, writeMetadata } from "../call/metadata.js";
import { statusBytes } from "../call/status.js";
import { checkFrame, frameOf, MalformedFrame, TUNNEL, TUNNEL_CALLS_MAX, WINDOW_BYTES_MAX } from "./tunnel-frame.js";
import { Outbox } from "./tunnel-outbox.js";
import { type CallPlace, TunnelServerCall } from "./tunnel-server-call.js";

const {
  TUNNEL_FRAME_KIND_HEAD,
  TUNNEL_FRAME_KIND_DATA,
  TUNNEL_FRAME_KIND_CANCEL,
  TUNNEL_FRAME_KIND_WINDOW,
  TUNNEL_FRAME_KIND_ERROR,
} = TunnelFrameKind;

type Stream = ServerDuplexStream<TunnelRequest, TunnelResponse>;

export interface TunnelServerOptions {
  readonly dispatcher: Pick<Dispatcher, "unary" | "stream" | "isFront" | "queueOf" | "refusedAtEdge">;
  /** Where calls that begin requests wait for their start. Absent: they begin at once. */
  readonly queue?: Pick<RequestQueue, "isFree" | "push"> | undefined;
  /** The most calls at once over one tunnel. 10,000. */
  readonly callsMax?: number | undefined;
  /** Those of all edges whose readers are behind. */
  readonly readers: BlockedReaders;
  readonly log?: Log | undefined;
  /** A front end of ours opened a tunnel from this address and port. */
  readonly onOpen?: ((peer: string) => void) | undefined;
}

/** All tunnels of one server. */
export class TunnelServer {
  readonly #options: TunnelServerOptions;
  readonly #tunnels = new Set<ServerTunnel>();
  #closing = false;

  constructor(options: TunnelServerOptions) {
    this.#options = options;
  }

  addTo(server: Server): void {
    const tunnel: handleBidiStreamingCall<TunnelRequest, TunnelResponse> = (stream) => this.#accept(stream);
    const definition: ServiceDefinition = { tunnel: TUNNEL };
    server.addService(definition, { tunnel });
  }

  /** Ends each tunnel once what its calls had to say is out. Takes no new ones. */
  close(): void {
    this.#closing = true;
    for (const tunnel of this.#tunnels) tunnel.finish();
  }

  #accept(stream: Stream): void {
    const refusal = this.#refusal(stream);
    if (refusal !== undefined) {
      stream.on("error", () => undefined);
      stream.emit("error", refusal);
      return;
    }
    const tunnel = new ServerTunnel(stream, this.#options, () => this.#tunnels.delete(tunnel));
    this.#tunnels.add(tunnel);
    this.#options.onOpen?.(stream.getPeer());
    // The front end waits for these headers before it sends its first call.
    stream.sendMetadata(writeMetadata({}));
  }

  #refusal(stream: Stream): { code: status; details: string } | undefined {
    if (!this.#options.dispatcher.isFront(readMetadata(stream.metadata)))
      return { code: status.PERMISSION_DENIED, details: "Only a front end of this gateway opens a tunnel." };
    return this.#closing ? { code: status.UNAVAILABLE, details: "The core is stopping." } : undefined;
  }
}

class ServerTunnel {
  readonly #stream: Stream;
  readonly #place: CallPlace;
  readonly #callsMax: number;
  readonly #log: Log | undefined;
  readonly #outbox: Outbox;
  readonly #calls = new Map<number, TunnelServerCall>();
  readonly #peer: string;
  readonly #onClose: () => void;
  #finishing = false;
  #open = true;

  constructor(stream: Stream, options: TunnelServerOptions, onClose: () => void) {
    this.#stream = stream;
    this.#log = options.log;
    this.#callsMax = options.callsMax ?? TUNNEL_CALLS_MAX;
    this.#peer = peerAddress(stream.getPeer());
    this.#onClose = onClose;
    this.#outbox = new Outbox((frames) => stream.write({ frames }));
    this.#place = {
      dispatcher: options.dispatcher,
      queue: options.queue,
      outbox: this.#outbox,
      readers: options.readers,
      onEnd: (callId) => this.#forget(callId),
    };
    stream.on("data", (message: TunnelRequest) => this.#take(message.frames));
    stream.on("drain", () => {
      this.#outbox.drained();
      if (this.#finishing) this.#finishIfIdle();
    });
    stream.on("cancelled", () => this.#close());
    stream.on("error", () => this.#close());
    stream.on("end", () => {
      if (this.#close()) stream.end();
    });
  }

  /** Ends the tunnel once its calls ended. */
  finish(): void {
    this.#finishing = true;
    this.#finishIfIdle();
  }

  #take(frames: readonly TunnelFrame[]): void {
    try {
      for (const frame of frames) {
        if (!this.#open) return;
        this.#step(frame);
      }
    } catch (error) {
      const details = error instanceof MalformedFrame ? error.message : "a frame could not be read";
      this.#log?.warn({ peer: this.#peer, err: error }, "a tunnel broke the rules and was ended");
      if (this.#close()) this.#stream.emit("error", { code: status.INVALID_ARGUMENT, details });
    }
  }

  #step(frame: TunnelFrame): void {
    checkFrame(frame);
    switch (frame.kind) {
      case TUNNEL_FRAME_KIND_HEAD:
        this.#openCall(frame);
        return;
      // A frame for a call that has ended crossed its end on the way: nobody's fault.
      case TUNNEL_FRAME_KIND_DATA:
        this.#calls.get(frame.callId)?.take(frame.data, frame.more);
        return;
      case TUNNEL_FRAME_KIND_WINDOW:
        this.#calls.get(frame.callId)?.grant(frame.windowBytes);
        return;
      case TUNNEL_FRAME_KIND_CANCEL:
        this.#cancel(frame.callId);
        return;
      default:
        throw new MalformedFrame("a frame is of no kind that a front end sends");
    }
  }

  #openCall(frame: TunnelFrame): void {
    const { callId, timeoutMs, windowBytes } = frame;
    if (this.#calls.has(callId)) throw new MalformedFrame("a call is opened twice");
    if (windowBytes > WINDOW_BYTES_MAX) throw new MalformedFrame("a window is too wide");
    const metadata = readHeaderLines(frame.headers);
    if (this.#calls.size >= this.#callsMax) {
      this.#refuse(callId, new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many calls over one tunnel" }));
      return;
    }
    const method = serviceMethod(frame.method);
    if (method === undefined) {
      this.#refuse(callId, new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path: frame.method.slice(0, 256) }));
      return;
    }
    const opening = { callId, method, metadata, peer: this.#peer, timeoutMs, windowBytes };
    const call = new TunnelServerCall(opening, this.#place);
    this.#calls.set(callId, call);
    call.take(frame.data, frame.more);
  }

  #refuse(callId: number, error: GatewayError): void {
    this.#outbox.push(frameOf(callId, TUNNEL_FRAME_KIND_ERROR, statusBytes(error)));
  }

  #cancel(callId: number): void {
    this.#calls.get(callId)?.cancel();
    this.#forget(callId);
  }

  #forget(callId: number): void {
    this.#calls.delete(callId);
    if (this.#finishing) this.#finishIfIdle();
  }

  #finishIfIdle(): void {
    if (this.#calls.size > 0 || !this.#open) return;
    this.#outbox.flush();
    if (!this.#outbox.empty) return;
    this.#close();
    this.#stream.end();
  }

  /** The tunnel carries nothing more: its calls have lost their caller. Returns false where it was so before. */
  #close(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#outbox.close();
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.cancel();
    this.#onClose();
    return true;
  }
}
