/** The owner's end of the socket: it answers the workers, and knows which of them are there. */
import { once } from "node:events";
import { settle, whenReady } from "../base/when-ready.js";
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { failureOf, type OwnerRequest, type Word } from "./messages.js";
import { Peer } from "./peer.js";

/** A worker that is there. */
export interface Visitor {
  /** Tells it something that it did not ask for. */
  tell(name: string, ...args: readonly unknown[]): void;
}

/** What is asked of one part, by name. It answers at once or later. */
export type Part = (name: string, args: readonly unknown[], visitor: Visitor) => unknown;

export interface DeskOptions {
  /** The directory of it must let nobody else in. */
  readonly path: string;
  readonly parts: Readonly<Record<string, Part>>;
  readonly onCame: (visitor: Visitor) => void;
  /** It ended, or its process did: nothing comes from it any more, and all that came was taken before this. */
  readonly onLeft: (visitor: Visitor) => void;
}

export class OwnerDesk {
  readonly #options: DeskOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(options: DeskOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#welcome(socket));
  }

  /** The caller has the lock of the directory, so that what is at the path was left behind. */
  static async open(options: DeskOptions): Promise<OwnerDesk> {
    const desk = new OwnerDesk(options);
    rmSync(options.path, { force: true });
    // Its own, although the process is one of those that share ports.
    desk.#server.listen({ path: options.path, exclusive: true });
    await once(desk.#server, "listening");
    chmodSync(options.path, 0o600);
    return desk;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    const say = (word: Word): void => peer.send(word);
    const visitor: Visitor = { tell: (name, ...args) => say([0, name, args]) };
    const peer = new Peer(socket, {
      // A worker is this program, of this build.
      message: (message) => this.#answer(message as OwnerRequest, visitor, say),
      closed: () => {
        this.#sockets.delete(socket);
        this.#options.onLeft(visitor);
      },
    });
    this.#options.onCame(visitor);
  }

  #answer([id, part, name, args]: OwnerRequest, visitor: Visitor, say: (word: Word) => void): void {
    const failed = (error: unknown): void => {
      if (id !== 0) say([id, true, failureOf(error)]);
    };
    const answered = (value: unknown): void => {
      if (id !== 0) say([id, false, value]);
    };
    settle(() => whenReady(this.#options.parts[part]?.(name, args, visitor), answered), failed);
  }
}
