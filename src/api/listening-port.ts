/** The end of a port: it closes once, behind what the kernel accepted for it, and leaves its connections alone. */
import type { Server } from "node:net";
import { inQuietTurn } from "./quiet-turn.js";

/** The connections of a port that is closed. */
export interface OpenConnections {
  /** All of them. */
  readonly size: number;
  /** Those of which a part of a request has come. */
  readonly receiving: number;
}

export class ListeningPort {
  readonly #server: Server;
  #accepted = 0;
  #closed: Promise<void> | undefined;

  /** `close` of the server must leave its connections alone. */
  constructor(server: Server) {
    this.#server = server;
    server.on("connection", () => (this.#accepted += 1));
  }

  /**
   * Accepts what waits to be accepted, and no more after that. A port that another closed, as the process that keeps
   * workers does for them, is closed.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (!this.#server.listening) return;
    await inQuietTurn(
      () => this.#accepted,
      () => void this.#server.close(),
    );
  }
}
