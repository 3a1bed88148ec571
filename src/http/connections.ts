/**
 * The open connections: how many of one address, which requests come too slowly, which readers take nothing of their
 * answers, and which may close at a stop.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AddressCounts } from "../api/address-counts.js";
import { LostAnswers } from "./lost-answers.js";

/** After the grace a body must have come at this rate, on average. */
const BODY_BYTES_PER_SECOND_MIN = 16 * 1024;

export interface ConnectionRules {
  /** True where connections speak TLS. */
  readonly isSecure: boolean;
  /** Connections from one address. */
  readonly perAddressMax: number;
  /** Addresses that the bound is not for. */
  readonly isProxy: ((address: string) => boolean) | undefined;
  /** How long a body may take before it must come at a least rate. */
  readonly slowMs: number;
  /** A reader that takes nothing of any answer for so long is cut. */
  readonly blockedMsMax: number;
  /** How often slow bodies and blocked readers are looked for. */
  readonly sweepMs: number;
  /** Ends a connection whose body comes too slowly. */
  readonly onSlow: (socket: Socket) => void;
}

interface Connection {
  /** Requests that are not answered yet. */
  running: number;
  /** What had come when the last answer was out. What comes after it is the begin of another request. */
  readAtRestBytes: number;
  /** The request that came last. */
  message: IncomingMessage | undefined;
  /** The one whose body the sweep watches, since when, and what had come by then. */
  slow: { readonly message: IncomingMessage; readonly sinceMs: number; readonly readBytes: number } | undefined;
  /** Since when its reader takes nothing, and what it had been given by then. */
  blocked: { readonly sinceMs: number; readonly writtenBytes: number } | undefined;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #nowMs: () => number;
  readonly #rules: ConnectionRules;

  /** The answers that their connections may not have carried. */
  readonly lost: LostAnswers;

  constructor(server: Server, nowMs: () => number, rules: ConnectionRules) {
    const lost = new LostAnswers(nowMs);
    this.lost = lost;
    this.#nowMs = nowMs;
    this.#rules = rules;
    const counts = new AddressCounts(rules.perAddressMax, rules.isProxy);
    server.on("connection", (socket: Socket) => {
      if (!counts.enter(socket)) socket.destroy();
    });
    // Requests name the socket that their bytes come from, which over TLS is not the one that was accepted.
    server.on(rules.isSecure ? "secureConnection" : "connection", (socket: Socket) => {
      this.#open.set(socket, {
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
    const sweep = setInterval(() => this.#sweep(), rules.sweepMs).unref();
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
  }

  get size(): number {
    return this.#open.size;
  }

  /** The connection carries no more requests. */
  leave(socket: Socket): void {
    this.#open.delete(socket);
  }

  /**
   * Closes those with no request under way. Node's own closeIdleConnections leaves alone a connection that never had
   * one, as clients open in advance, and such a one lasts as long as its client likes.
   */
  closeAtRest(): void {
    for (const [socket, { running, readAtRestBytes }] of this.#open) {
      if (running === 0 && socket.bytesRead === readAtRestBytes) socket.destroy();
    }
  }

  /** One look at all of them costs less than a timer for each request. */
  #sweep(): void {
    const nowMs = this.#nowMs();
    for (const [socket, connection] of this.#open) {
      this.#endSlow(socket, connection, nowMs);
      this.#endBlocked(socket, connection, nowMs);
    }
  }

  #endSlow(socket: Socket, connection: Connection, nowMs: number): void {
    const { message, slow } = connection;
    if (message === undefined || message.complete) {
      connection.slow = undefined;
      return;
    }
    if (slow?.message !== message) {
      connection.slow = { message, sinceMs: nowMs, readBytes: socket.bytesRead };
      return;
    }
    const lateMs = nowMs - slow.sinceMs - this.#rules.slowMs;
    const readBytes = socket.bytesRead - slow.readBytes;
    if (lateMs >= 0 && readBytes <= (lateMs / 1000) * BODY_BYTES_PER_SECOND_MIN) this.#rules.onSlow(socket);
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
