/** A worker's end of the socket: it asks the owner, and hears what that tells all workers. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../base/errors.js";
import { errorOf, isFailure, type OwnerRequest, type Word } from "./messages.js";
import { Peer } from "./peer.js";

/** How often an owner that is not there yet is looked for. */
const LOOK_MS = 50;
const CALLS_MAX = 20_000;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class OwnerLink {
  readonly #peer: Peer;
  readonly #pending = new Map<number, Pending>();
  readonly #hearers = new Map<string, (...args: readonly unknown[]) => void>();
  readonly #onLost: (error: Error) => void;
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(peer: (link: OwnerLink) => Peer, onLost: (error: Error) => void) {
    this.#onLost = onLost;
    this.#peer = peer(this);
    this.#peer.unref();
  }

  /**
   * Waits so long for an owner. `onLost` is called once where it ends before `close`: what this process relies on is
   * gone, and it must end too.
   */
  static async connect(path: string, patienceMs: number, onLost: (error: Error) => void): Promise<OwnerLink> {
    const untilMs = performance.now() + patienceMs;
    for (;;) {
      const socket = connect(path);
      try {
        await once(socket, "connect");
      } catch (cause) {
        if (performance.now() < untilMs) {
          await sleep(LOOK_MS);
          continue;
        }
        throw new Error(`the process that owns the database does not answer at '${path}'`, { cause });
      }
      const events = (link: OwnerLink): ConstructorParameters<typeof Peer>[1] => ({
        // The owner is this program, of this build.
        message: (message) => link.#receive(message as Word),
        closed: (cause) => link.#fail(new Error("The process that owns the database is gone.", { cause })),
      });
      return new OwnerLink((link) => new Peer(socket, events(link)), onLost);
    }
  }

  call(part: string, name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(unavailable(this.#ended));
    if (this.#pending.size >= CALLS_MAX)
      return Promise.reject(new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the database is behind" }));
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      if (this.#pending.size === 0) this.#peer.ref();
      this.#pending.set(id, { resolve, reject });
      this.#say([id, part, name, args]);
    });
  }

  /** Awaits no answer. */
  tell(part: string, name: string, args: readonly unknown[]): void {
    if (this.#ended === undefined) this.#say([0, part, name, args]);
  }

  /** Hears what the owner tells under this name. */
  hear(name: string, hearer: (...args: readonly unknown[]) => void): void {
    this.#hearers.set(name, hearer);
  }

  /** Call it once all that was asked is answered. */
  close(): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = new Error("The database is closed.");
      this.#peer.end();
    }
    return Promise.resolve();
  }

  #say(question: OwnerRequest): void {
    this.#peer.send(question);
  }

  #receive([id, what, value]: Word): void {
    if (typeof what === "string") {
      this.#hearers.get(what)?.(...(value as readonly unknown[]));
      return;
    }
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#peer.unref();
    if (what && isFailure(value)) pending?.reject(errorOf(value));
    else pending?.resolve(value);
  }

  #fail(error: Error): void {
    const isClosing = this.#ended !== undefined;
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(unavailable(error));
    this.#pending.clear();
    if (!isClosing) this.#onLost(error);
  }
}

function unavailable(cause: Error): GatewayError {
  return new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause });
}
