/**
 * Messages between two processes of one machine, over a local socket. What is sent in one turn of the event loop goes
 * as one frame: its length, and the messages in the form in which Node passes them between threads.
 */
import type { Socket } from "node:net";
import { deserialize, serialize } from "node:v8";

const HEAD_BYTES = 4;
/** A kept answer has 32 MiB at most, and a batch of them 4 MiB more than one. A longer frame is a fault. */
const FRAME_BYTES_MAX = 256 * 1024 * 1024;

export interface PeerEvents {
  message(message: unknown): void;
  /** Once: nothing more comes, and nothing more is sent. */
  closed(cause: Error | undefined): void;
}

export class Peer {
  readonly #socket: Socket;
  readonly #events: PeerEvents;
  #outgoing: unknown[] = [];
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** Undefined while the head of a frame is awaited. */
  #frameBytes: number | undefined;
  #cause: Error | undefined;

  constructor(socket: Socket, events: PeerEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => (this.#cause ??= error));
    socket.once("close", () => events.closed(this.#cause));
  }

  /** The process need not live for what comes from here. */
  unref(): void {
    this.#socket.unref();
  }

  ref(): void {
    this.#socket.ref();
  }

  send(message: unknown): void {
    if (this.#outgoing.push(message) === 1) setImmediate(this.#flush);
  }

  /** Sends what is left, and closes. */
  end(): void {
    this.#flush();
    this.#socket.end();
  }

  readonly #flush = (): void => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    if (outgoing.length === 0 || !this.#socket.writable) return;
    const body = serialize(outgoing);
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head.writeUInt32LE(body.length);
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body);
    this.#socket.uncork();
  };

  #receive(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#partBytes += chunk.length;
    try {
      for (let frame = this.#take(); frame !== undefined; frame = this.#take())
        for (const message of deserialize(frame) as readonly unknown[]) this.#events.message(message);
    } catch (error) {
      this.#socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** The next whole frame, without its head. */
  #take(): Buffer | undefined {
    if (this.#frameBytes === undefined) {
      const head = this.#cut(HEAD_BYTES);
      if (head === undefined) return undefined;
      this.#frameBytes = head.readUInt32LE();
      if (this.#frameBytes > FRAME_BYTES_MAX) throw new Error("a frame is longer than any message");
    }
    const frame = this.#cut(this.#frameBytes);
    if (frame !== undefined) this.#frameBytes = undefined;
    return frame;
  }

  #cut(byteCount: number): Buffer | undefined {
    if (this.#partBytes < byteCount) return undefined;
    const [first = Buffer.alloc(0)] = this.#parts;
    const whole = this.#parts.length === 1 ? first : Buffer.concat(this.#parts);
    const rest = whole.subarray(byteCount);
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#partBytes = rest.length;
    return whole.subarray(0, byteCount);
  }
}
