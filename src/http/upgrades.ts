/**
 * Requests that ask for a WebSocket. Whatever is no good request for one is an ordinary request, and answered as one:
 * so refusals are told as everywhere, and clients that would like another protocol, as some do, lose nothing.
 */
import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Admission } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import { settle, whenReady } from "../base/when-ready.js";
import type { Format, FormatSocket } from "../formats/format.js";
import type { Connections } from "./connections.js";
import type { Front } from "./front.js";
import { askedClamp, hostProblem } from "./headers.js";
import { mayBeWebSocket } from "./node-server.js";
import type { RoutePermission } from "./routes.js";
import { MESSAGE_BYTES_MAX, type SocketParts, SocketSession } from "./socket-session.js";

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = "13";
/** How long the other side may take to close. */
const CLOSE_MS = 2_000;

export interface UpgradeParts extends SocketParts {
  readonly front: Front;
  readonly formats: readonly Format[];
  readonly permission: Exclude<RoutePermission, "public">;
  readonly connections: Connections;
  /** Takes the connections of ordinary requests. */
  readonly ordinary: Server;
  readonly isDraining: () => boolean;
  /** The most WebSockets, and of one key. */
  readonly socketsMax: number;
  readonly socketsPerKeyMax: number;
}

export class Upgrades {
  readonly #parts: UpgradeParts;
  readonly #webSockets: WebSocketServer;
  readonly #sessions = new Set<SocketSession>();
  readonly #byHolder = new Map<string, number>();

  constructor(server: Server, parts: UpgradeParts) {
    this.#parts = parts;
    // The types of the package do not know all of its options yet.
    const options = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: Math.min(parts.bodyBytesMax, MESSAGE_BYTES_MAX),
      closeTimeout: CLOSE_MS,
    };
    this.#webSockets = new WebSocketServer(options);
    server.on("upgrade", (request, stream, head) => this.#take(request, stream, head));
  }

  /** Lets a caller open one. Throws or rejects with why not. */
  admit(request: IncomingMessage): Admission | Promise<Admission> {
    const { front, permission } = this.#parts;
    return whenReady(front.admitUpgrade(request, permission), (admission) => this.#withRoom(admission));
  }

  /** Why an ordinary request at the address of a WebSocket, whose caller was let in, is answered with a refusal. */
  refusalOf({ method = "", url = "", headers }: IncomingMessage): GatewayError {
    if (asksForWebSocket(headers)) {
      const problem = `its WebSocket handshake is malformed; send a key of 16 bytes, and version ${VERSION}`;
      return new GatewayError("ERROR_REASON_BODY_INVALID", { problem });
    }
    const path = pathOf(url);
    return new GatewayError("ERROR_REASON_PATH_UNKNOWN", { method, path, hint: `POST ${path}` });
  }

  /** Closes those at rest, and the others once they have answered. */
  drain(): void {
    for (const session of this.#sessions) session.drain();
  }

  #take(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (!(stream instanceof Socket)) return void stream.destroy();
    stream.on("error", () => stream.destroy());
    const format = this.#formatOf(request);
    if (format?.socket === undefined) return this.#ordinary(request, stream, head);
    const { socket } = format;
    const open = (admission: Admission): void => this.#open(request, stream, head, { format, socket, admission });
    settle(
      () => whenReady(this.admit(request), open),
      () => this.#ordinary(request, stream, head),
    );
  }

  /** The format whose WebSocket is asked for, in good form. */
  #formatOf(request: IncomingMessage): Format | undefined {
    const { url = "", headers } = request;
    if (!mayBeWebSocket(request) || hostProblem(request) !== undefined) return undefined;
    if (headers["sec-websocket-version"] !== VERSION || !KEY.test(headers["sec-websocket-key"] ?? "")) return undefined;
    if (this.#parts.isDraining()) return undefined;
    return this.#parts.formats.find(({ socket }) => socket?.path === pathOf(url));
  }

  #open(
    request: IncomingMessage,
    stream: Socket,
    head: Buffer,
    { format, socket, admission }: { format: Format; socket: FormatSocket; admission: Admission },
  ): void {
    const { front, connections, onAnswered } = this.#parts;
    const { holder } = admission;
    this.#webSockets.handleUpgrade(request, stream, head, (webSocket) => {
      connections.leave(stream);
      onAnswered(101, 0);
      const clamp = askedClamp(request.headers);
      const metadata = front.callerMetadata(request.headers, stream);
      const session = new SocketSession(
        webSocket,
        stream,
        { format, socket, holder, admission, metadata, clamp },
        this.#parts,
      );
      this.#sessions.add(session);
      this.#byHolder.set(holder, this.#countOf(holder) + 1);
      session.onClosed(() => {
        this.#sessions.delete(session);
        const left = this.#countOf(holder) - 1;
        if (left > 0) this.#byHolder.set(holder, left);
        else this.#byHolder.delete(holder);
      });
      if (this.#parts.isDraining()) session.drain();
    });
  }

  #withRoom(admission: Admission): Admission {
    const { socketsMax, socketsPerKeyMax } = this.#parts;
    if (this.#countOf(admission.holder) >= socketsPerKeyMax)
      throw new GatewayError("ERROR_REASON_RATE_LIMITED", {
        limit: "websockets",
        owner: "the key",
        limit_value: String(socketsPerKeyMax),
        remaining: "0",
        reset_ms: "1000",
      });
    if (this.#sessions.size >= socketsMax) {
      const problem = `${socketsMax} WebSockets are open`;
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: "1000" });
    }
    return admission;
  }

  #countOf(holder: string): number {
    return this.#byHolder.get(holder) ?? 0;
  }

  /** Hands the connection on as it was, with the request in front, to a server that upgrades nothing. */
  #ordinary({ method, url, httpVersion, rawHeaders }: IncomingMessage, stream: Socket, head: Buffer): void {
    if (stream.destroyed) return;
    let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
    for (let place = 0; place < rawHeaders.length; place += 2)
      text += `${rawHeaders[place]}: ${rawHeaders[place + 1]}\r\n`;
    stream.unshift(Buffer.concat([Buffer.from(`${text}\r\n`, "latin1"), head]));
    this.#parts.ordinary.emit("connection", stream);
  }
}

function asksForWebSocket(headers: IncomingMessage["headers"]): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
