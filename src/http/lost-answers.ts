/** Whole answers that were just written, until it is likely that their clients have them. Each key has its share. */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BytePool, type Pooled } from "../base/bytes/byte-pool.js";

/** A connection that closes so soon after an answer, without another request, may not have carried it to its client. */
const DOUBT_MS = 2_000;
const BYTES_MAX = 64 * 1024 * 1024;

/** An answer that was written. */
export interface WrittenAnswer {
  readonly socket: Socket;
  readonly response: ServerResponse;
  /** Whose it is: names one key. */
  readonly holder: string;
  /** What `onLost` holds on to. */
  readonly bytes: number;
  /** Runs where the connection closes soon. */
  readonly onLost: () => void;
}

interface Written extends WrittenAnswer, Pooled {
  readonly atMs: number;
}

export class LostAnswers {
  /** By connection, the oldest first. */
  readonly #written = new Map<Socket, Written>();
  readonly #pool = new BytePool(BYTES_MAX, () => undefined);

  constructor(private readonly nowMs: () => number) {}

  /** Whose share is full loses its own oldest, and nobody else's. */
  wrote(answer: WrittenAnswer): void {
    const { socket, response, holder, bytes, onLost } = answer;
    this.#forget(socket);
    this.#forgetCarried();
    if (bytes > BYTES_MAX) return;
    const release = (): void => void this.#forget(socket);
    const atMs = this.nowMs();
    const written: Written = { socket, response, holder, bytes, onLost, atMs, accountId: holder, release };
    while (!this.#pool.take(written, bytes)) {
      const oldest = this.#pool.oldestOf(holder);
      if (oldest === undefined) return;
      oldest.release();
    }
    this.#written.set(socket, written);
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

  /** Those of connections that stayed open need no room any more, as far as they are the oldest. */
  #forgetCarried(): void {
    const doubtedMs = this.nowMs() - DOUBT_MS;
    for (const [socket, { response, atMs }] of this.#written) {
      if (atMs > doubtedMs || !response.writableFinished) return;
      this.#forget(socket);
    }
  }

  #forget(socket: Socket): Written | undefined {
    const written = this.#written.get(socket);
    if (written === undefined) return undefined;
    this.#written.delete(socket);
    this.#pool.give(written, written.bytes);
    return written;
  }
}
