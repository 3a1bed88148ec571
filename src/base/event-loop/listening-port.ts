/** The end of a port: it closes once, behind what the kernel accepted for it, and leaves its connections alone. */
import type { Server, Socket } from "node:net";
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
  readonly #held: Socket[] = [];
  readonly #open = new Set<Socket>();
  #listeners: ((socket: Socket) => void)[] | undefined;
  #closed: Promise<void> | undefined;
  #ended = Promise.resolve();

  /** `close` of the server must leave its connections alone. */
  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
    server.once("listening", () => {
      this.#ended = new Promise((resolve) => server.once("close", () => resolve()));
    });
  }

  /** Resolves when the port is closed and its last connection has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Ends what is left of its connections, whoever has them by now: those of WebSockets, and those handed on. */
  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** How many connections came since they are held. */
  get held(): number {
    return this.#held.length;
  }

  /**
   * What comes from now on is accepted, and served once the port is closed. Clients that are served come again, so on a
   * busy process somebody would always wait; clients that are held do not, so nobody waits a moment later.
   */
  hold(): void {
    if (this.#listeners !== undefined) return;
    this.#listeners = this.#server.rawListeners("connection") as ((socket: Socket) => void)[];
    this.#server.removeAllListeners("connection");
    this.#server.on("connection", this.#keep);
  }

  /**
   * Accepts what waits to be accepted, and no more after that. A port that another closed, as the process that keeps
   * workers does for them, is closed.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.hold();
    if (this.#server.listening)
      await inQuietTurn(
        () => this.held,
        () => void this.#server.close(),
      );
    this.#server.off("connection", this.#keep);
    for (const listener of this.#listeners ?? []) this.#server.on("connection", listener);
    for (const socket of this.#held.splice(0)) if (!socket.destroyed) this.#server.emit("connection", socket);
  }

  readonly #keep = (socket: Socket): void => {
    // One that its client leaves meanwhile must not end the process.
    socket.on("error", () => socket.destroy());
    this.#held.push(socket);
  };
}
