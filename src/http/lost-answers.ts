/** Whole answers that were just written, until it is likely that their clients have them. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A connection that closes so soon after an answer, without another request, may not have carried it to its client. */
const DOUBT_MS = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;

interface Written {
  readonly response: ServerResponse;
  readonly bytes: number;
  readonly atMs: number;
  readonly onLost: () => void;
}

export class LostAnswers {
  /** By connection, the oldest first. */
  readonly #written = new Map<Socket, Written>();
  #bytes = 0;

  constructor(private readonly nowMs: () => number) {}

  /** An answer was written. `onLost` runs where its connection closes soon; it holds on to so many bytes. */
  wrote(socket: Socket, response: ServerResponse, bytes: number, onLost: () => void): void {
    this.#forget(socket);
    this.#written.set(socket, { response, bytes, atMs: this.nowMs(), onLost });
    this.#bytes += bytes;
    for (const oldest of this.#written.keys()) {
      if (this.#bytes <= BYTES_MAX) return;
      this.#forget(oldest);
    }
  }

  /** The client asks again on the connection, so it had the answer before. */
  asked(socket: Socket): void {
    if (this.#written.size > 0) this.#forget(socket);
  }

  closed(socket: Socket): void {
    const written = this.#forget(socket);
    if (written === undefined) return;
    if (!written.response.writableFinished || this.nowMs() - written.atMs < DOUBT_MS) written.onLost();
  }

  #forget(socket: Socket): Written | undefined {
    const written = this.#written.get(socket);
    if (written === undefined) return undefined;
    this.#written.delete(socket);
    this.#bytes -= written.bytes;
    return written;
  }
}
