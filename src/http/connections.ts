/** The open connections, so that a stopping server can close those on which nothing happens. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LostAnswers } from "./lost-answers.js";

interface Connection {
  /** Requests that are not answered yet. */
  running: number;
  /** What had come when the last answer was out. What comes after it is the begin of another request. */
  readAtRestBytes: number;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();

  /** The answers that their connections may not have carried. */
  readonly lost: LostAnswers;

  constructor(server: Server, nowMs: () => number) {
    const lost = new LostAnswers(nowMs);
    this.lost = lost;
    server.on("connection", (socket: Socket) => {
      this.#open.set(socket, { running: 0, readAtRestBytes: 0 });
      socket.once("close", () => {
        this.#open.delete(socket);
        lost.closed(socket);
      });
    });
    server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
      const connection = this.#open.get(socket);
      if (connection === undefined) return;
      connection.running++;
      lost.asked(socket);
      response.on("close", () => {
        connection.running--;
        connection.readAtRestBytes = socket.bytesRead;
      });
    });
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
}
