/** The writer of one server-sent stream: one write a turn, back-pressure, heartbeats, and an end to a stuck reader. */
import type { ServerResponse } from "node:http";
import { holdTurn } from "./end-of-turn.js";
import type { AnswerHeaders } from "./headers.js";
import type { HeartbeatTimer, Ticking } from "./heartbeat-timer.js";

/** What a connection is given at once: with the mark up to which it takes more, no stream holds 256 KiB. */
const GIVEN_BYTES_MAX = 128 * 1024;

const NO_BYTES = Buffer.alloc(0);

export interface StreamReplyParts {
  readonly response: ServerResponse;
  readonly timer: HeartbeatTimer;
  /** What an idle stream is kept alive with. */
  readonly heartbeat: Buffer;
  /** A reader that takes nothing for so long is cut. */
  readonly blockedMsMax: number;
}

export class StreamReply implements Ticking {
  rosterIndex: number | undefined = undefined;
  readonly #parts: StreamReplyParts;
  /** As the timer saw it last: no stream asks for the time with each event. */
  #lastWriteMs = 0;
  #hasWritten = false;
  /** Since when the reader is behind; undefined while it keeps up. */
  #blockedSinceMs: number | undefined;
  /** True while the connection holds as much as it takes. */
  #isFull = false;
  /** What waits for it: the rest of a long batch, and one that was on its way when the connection became full. */
  #waiting: Buffer[] = [];
  #begun = false;
  #flushed = false;
  #ended = false;
  #onDrain: (() => void) | undefined;
  readonly #drained = (): void => {
    this.#blockedSinceMs = undefined;
    this.#isFull = false;
    this.#give();
    if (this.#isFull) return;
    this.#onDrain?.();
  };

  constructor(parts: StreamReplyParts) {
    this.#parts = parts;
  }

  /** True once the status is on its way: from then on an error goes into the stream. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Sends the head; the first bytes leave with it, in one write. */
  begin(headers: AnswerHeaders): void {
    const { response, timer } = this.#parts;
    this.#begun = true;
    this.#hasWritten = true;
    response.writeHead(200, headers);
    response.once("close", () => timer.remove(this));
    response.on("drain", this.#drained);
    timer.add(this);
  }

  /** Returns false where the reader is behind; `onDrain` tells when it caught up. */
  write(bytes: Buffer): boolean {
    const { response } = this.#parts;
    // A reader that left takes everything; the abort that ends the call is on its way.
    if (response.destroyed || this.#ended) return true;
    if (bytes.length === 0) {
      if (!this.#flushed) response.flushHeaders();
      this.#flushed = true;
      return this.#blockedSinceMs === undefined;
    }
    this.#flushed = true;
    this.#hasWritten = true;
    if (this.#isFull || bytes.length > GIVEN_BYTES_MAX) {
      this.#waiting.push(bytes);
      this.#give();
    } else this.#sendOrWait(bytes);
    return !this.#isFull;
  }

  /** Gives the connection of what waits as much as it takes, and the end behind all of it. */
  #give(): void {
    while (!this.#isFull && this.#waiting.length > 0) {
      const [bytes = NO_BYTES] = this.#waiting;
      if (bytes.length <= GIVEN_BYTES_MAX) this.#waiting.shift();
      else this.#waiting[0] = bytes.subarray(GIVEN_BYTES_MAX);
      this.#sendOrWait(bytes.subarray(0, GIVEN_BYTES_MAX));
    }
    if (this.#ended && !this.#isFull && this.#waiting.length === 0) this.#parts.response.end();
  }

  #sendOrWait(bytes: Buffer): void {
    const { response } = this.#parts;
    if (response.socket !== null) holdTurn(response.socket);
    this.#isFull = !response.write(bytes);
    if (this.#isFull) this.#blockedSinceMs ??= this.#parts.timer.listeningMs();
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** The last bytes. The reader has as long for them as for any others. */
  end(bytes: Buffer): void {
    const { response, timer } = this.#parts;
    if (response.destroyed || this.#ended) return;
    this.#ended = true;
    this.#blockedSinceMs ??= timer.listeningMs();
    if (this.#isFull || bytes.length > GIVEN_BYTES_MAX) {
      // Nothing at all would be the mark of the end.
      if (bytes.length > 0) this.#waiting.push(bytes);
      this.#give();
    } else if (bytes.length === 0) response.end();
    else response.end(bytes);
  }

  onTick(nowMs: number): void {
    const { response, timer, heartbeat, blockedMsMax } = this.#parts;
    if (this.#blockedSinceMs !== undefined) {
      if (timer.listeningMs() - this.#blockedSinceMs > blockedMsMax) response.destroy();
      return;
    }
    if (this.#hasWritten) {
      this.#hasWritten = false;
      this.#lastWriteMs = nowMs;
    }
    if (!timer.isDue(this.#lastWriteMs, nowMs)) return;
    this.write(heartbeat);
    this.#hasWritten = false;
    this.#lastWriteMs = nowMs;
  }
}
