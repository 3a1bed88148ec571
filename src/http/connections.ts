/**
 * The open connections: how many of one address, which requests come too slowly, which readers take nothing of their
 * answers, and which may close at a stop.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AddressCounts } from "../base/address-counts.js";
import { listeningClock } from "../base/event-loop/listening-clock.js";
import { inQuietTurn } from "../base/event-loop/quiet-turn.js";
import { LostAnswers } from "./lost-answers.js";

/** After the grace a body must have come at this rate, on average. */
const BODY_BYTES_PER_SECOND_MIN = 16 * 1024;
/** At a stop: a client that opens a connection for a request sends that by then, even where its machine is busy. */
const FIRST_REQUEST_MS = 3_000;
/** However steadily it comes, a request is there by then. */
const REQUEST_MS_MAX = 600_000;

export interface ConnectionRules {
  /** True where connections speak TLS. */
  readonly isSecure: boolean;
  /** Connections from one address. */
  readonly perAddressMax: number;
  /** Addresses that the bound is not for. */
  readonly isProxy: ((address: string) => boolean) | undefined;
  /** How long headers may take, and a body before it must come at a least rate. */
  readonly slowMs: number;
  /** A reader that takes nothing of any answer for so long is cut. */
  readonly blockedMsMax: number;
  /** How often slow bodies and blocked readers are looked for. */
  readonly sweepMs: number;
  /** Ends a connection whose request comes too slowly. */
  readonly onSlow: (socket: Socket) => void;
}

interface Connection {
  /** By the listening clock. */
  readonly openedMs: number;
  /** Requests that are not answered yet. */
  running: number;
  /** What had come when the last answer was out. What comes after it is the begin of another request. */
  readAtRestBytes: number;
  /** The request that came last. */
  message: IncomingMessage | undefined;
  /** What the sweep watches, since when, and what had come by then. */
  slow: { readonly awaited: Awaited; readonly sinceMs: number; readonly readBytes: number } | undefined;
  /** Since when its reader takes nothing, and what it had been given by then. */
  blocked: { readonly sinceMs: number; readonly writtenBytes: number } | undefined;
}

/** A request whose body is not whole, or where the one begins whose headers are not: by the bytes before it. */
type Awaited = IncomingMessage | number;

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #listeningMs: () => number;
  readonly #rules: ConnectionRules;

  /** The answers that their connections may not have carried. */
  readonly lost: LostAnswers;

  /** `listeningMs` is the clock by which clients are waited for. */
  constructor(server: Server, nowMs: () => number, listeningMs: () => number, rules: ConnectionRules) {
    const lost = new LostAnswers(nowMs);
    this.lost = lost;
    this.#listeningMs = listeningMs;
    this.#rules = rules;
    const counts = new AddressCounts(rules.perAddressMax, rules.isProxy);
    server.on("connection", (socket: Socket) => {
      if (!counts.enter(socket)) socket.destroy();
    });
    // Requests name the socket that their bytes come from, which over TLS is not the one that was accepted.
    server.on(rules.isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      this.#open.set(socket, {
        openedMs: this.#listeningMs(),
        running: 0,
        readAtRestBytes: 0,
        message: undefined,
        slow: undefined,
        blocked: undefined,
      });
      socket.once("close", () => {
        this.#open.delete(socket);
        lost.closed(socket);
      });
    });
    this.watch(server);
    const sweep = listeningClock.every(rules.sweepMs, () => this.#sweep());
    server.once("close", () => clearInterval(sweep));
  }

  /** Watches the requests of a server that connections may be handed on to. */
  watch(server: Server): void {
    server.on("request", (message: IncomingMessage, response: ServerResponse) => {
      const { socket } = message;
      const connection = this.#open.get(socket);
      if (connection === undefined) return;
      connection.running++;
      connection.message = message;
      this.lost.asked(socket);
      response.on("close", () => {
        connection.running--;
        connection.readAtRestBytes = socket.bytesRead;
      });
    });
    // Of a connection that was kept for another request, which may lie unread where this process was held up.
    server.on("timeout", (socket: Socket) => {
      const { bytesRead } = socket;
      setImmediate(() => void (socket.bytesRead === bytesRead && socket.destroy()));
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Those of which a part of a request has come. */
  get receiving(): number {
    return this.#count(({ running, message, readAtRestBytes }, { bytesRead }) =>
      running === 0 ? bytesRead !== readAtRestBytes : message?.complete === false,
    );
  }

  /** Those whose requests are not answered yet. */
  get working(): number {
    return this.#count(({ running }) => running > 0);
  }

  /** The connection carries no more requests. */
  leave(socket: Socket): void {
    this.#open.delete(socket);
  }

  /**
   * Closes those with no request under way. Node's own closeIdleConnections leaves alone a connection that never had
   * one, as clients open in advance, and such a one lasts as long as its client likes: it has three seconds here. What
   * has come by then is read first.
   */
  async closeAtRest(): Promise<void> {
    const nowMs = this.#listeningMs();
    const isAtRest = ({ running, message, openedMs, readAtRestBytes }: Connection, { bytesRead }: Socket): boolean =>
      running === 0 && bytesRead === readAtRestBytes && (message !== undefined || nowMs - openedMs >= FIRST_REQUEST_MS);
    if (this.#count(isAtRest) === 0) return;
    await inQuietTurn(
      () => this.working,
      () => {
        for (const [socket, connection] of this.#open) if (isAtRest(connection, socket)) socket.destroy();
      },
    );
  }

  #count(holds: (connection: Connection, socket: Socket) => boolean): number {
    let count = 0;
    for (const [socket, connection] of this.#open) if (holds(connection, socket)) count += 1;
    return count;
  }

  /** One look at all of them costs less than a timer for each request. */
  #sweep(): void {
    const nowMs = this.#listeningMs();
    for (const [socket, connection] of this.#open) {
      this.#endSlow(socket, connection, nowMs);
      this.#endBlocked(socket, connection, nowMs);
    }
  }

  #endSlow(socket: Socket, connection: Connection, nowMs: number): void {
    const awaited = awaitedOf(socket, connection);
    if (awaited === undefined) {
      connection.slow = undefined;
      return;
    }
    const { slow } = connection;
    if (slow?.awaited !== awaited) {
      connection.slow = { awaited, sinceMs: nowMs, readBytes: socket.bytesRead };
      return;
    }
    const tookMs = nowMs - slow.sinceMs;
    const lateMs = tookMs - this.#rules.slowMs;
    if (lateMs < 0) return;
    const leastBytes = typeof awaited === "number" ? Infinity : (lateMs / 1000) * BODY_BYTES_PER_SECOND_MIN;
    const isSlow = socket.bytesRead - slow.readBytes <= leastBytes;
    if (isSlow || tookMs >= Math.max(REQUEST_MS_MAX, this.#rules.slowMs)) this.#rules.onSlow(socket);
  }

  /** All answers go out in pieces, so a connection that is given another one has taken one. */
  #endBlocked(socket: Socket, connection: Connection, nowMs: number): void {
    const { blocked } = connection;
    if (socket.writableLength === 0) connection.blocked = undefined;
    else if (blocked?.writtenBytes !== socket.bytesWritten)
      connection.blocked = { sinceMs: nowMs, writtenBytes: socket.bytesWritten };
    else if (nowMs - blocked.sinceMs > this.#rules.blockedMsMax) socket.destroy();
  }
}

/** What is to come of a request that has begun, or of the first one; undefined where nothing is. */
function awaitedOf(socket: Socket, { message, running, readAtRestBytes }: Connection): Awaited | undefined {
  if (message !== undefined && !message.complete) return message;
  const isAtRest = running > 0 || (message !== undefined && socket.bytesRead === readAtRestBytes);
  return isAtRest ? undefined : readAtRestBytes;
}
