/** The writer of one WebSocket: messages in pieces, only as much as the connection takes at a time. */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/** What the connection is given at once: with the mark up to which it takes more, none holds 256 KiB. */
const PIECE_BYTES_MAX = 64 * 1024;

interface Waiting {
  readonly bytes: Buffer;
  /** How much of it was given. */
  at: number;
}

export class SocketWriter {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #nowMs: () => number;
  readonly #waiting: Waiting[] = [];
  /** Since when the reader is behind; undefined while it keeps up. */
  #blockedSinceMs: number | undefined;
  #onDrain: (() => void) | undefined;
  #onFlushed: (() => void) | undefined;

  constructor(webSocket: WebSocket, socket: Socket, nowMs: () => number) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#nowMs = nowMs;
    socket.on("drain", () => {
      this.#blockedSinceMs = undefined;
      this.#give();
      if (this.isFull) return;
      this.#onFlushed?.();
      this.#onDrain?.();
    });
    socket.on("close", () => this.#onFlushed?.());
  }

  /** True while the reader is behind. */
  get isFull(): boolean {
    return this.#waiting.length > 0 || this.#socket.writableNeedDrain;
  }

  /** How long the reader has taken nothing. */
  get blockedMs(): number {
    return this.#blockedSinceMs === undefined ? 0 : this.#nowMs() - this.#blockedSinceMs;
  }

  /** Sends messages, in one write where they are short. Returns false where the reader is behind. */
  send(messages: readonly Buffer[]): boolean {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return true;
    for (const bytes of messages) this.#waiting.push({ bytes, at: 0 });
    this.#give();
    return !this.isFull;
  }

  /** Resolves once the connection has taken everything, or is closed. One waits at a time. */
  flushed(): Promise<void> {
    if (!this.isFull || this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onFlushed = resolve;
    });
  }

  /** The one callback that runs whenever the reader caught up. */
  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  #give(): void {
    if (this.#socket.writableNeedDrain) return this.#block();
    this.#socket.cork();
    let next = this.#waiting[0];
    while (next !== undefined && !this.#socket.writableNeedDrain) {
      const piece = next.bytes.subarray(next.at, next.at + PIECE_BYTES_MAX);
      next.at += piece.length;
      const fin = next.at === next.bytes.length;
      this.#webSocket.send(piece, { binary: false, fin, compress: false });
      if (fin) this.#waiting.shift();
      next = this.#waiting[0];
    }
    this.#socket.uncork();
    if (this.#socket.writableNeedDrain) this.#block();
  }

  #block(): void {
    this.#blockedSinceMs ??= this.#nowMs();
  }
}
