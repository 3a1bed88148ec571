/** One connection to an upstream: how it is opened, how what arrives on it is read, and how it waits for its reader. */
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { buildConnector } from "undici";
import { isOutOfDescriptors } from "./descriptors.js";

/** What libuv suggests for one read. All connections share it: what it holds is copied out before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** A connection stops reading once it holds this much that undici did not take: one full read is no reason. */
const UNREAD_BYTES_MAX = 2 * readBuffer.length;

/** The process may open no connection more. */
class NoDescriptor extends Error {
  readonly code = "EMFILE";
}

type Done = (error?: Error | null) => void;
interface Written {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

/** As a connector of undici, which also tells of the connection, before undici hears of it. */
export type Connect = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  onOpen: (connection: Connection) => void,
) => void;

/**
 * Opens connections over TCP or TLS, whose sessions they share. A read is put into one buffer and copied out at its
 * size: a socket by itself takes 64 KiB for each.
 */
export function createConnector(timeoutMs: number): Connect {
  const onread = { buffer: readBuffer, callback: (_length: number): boolean => true };
  // It is an option of the socket, to which they all go; the type lists but some.
  const connector = buildConnector({ timeout: timeoutMs, onread } as buildConnector.BuildOptions);
  return (options, callback, onOpen) => {
    const opening = new Connection();
    // The socket takes it as it is made, which is before the connector returns.
    onread.callback = (length) => opening.onRead(length);
    connector(options, (...opened) => {
      const [error, socket] = opened;
      // A name cannot be resolved either for want of one, which says so in other words.
      if (error !== null) return callback(isOutOfDescriptors() ? new NoDescriptor() : error, null);
      opening.open(socket);
      onOpen(opening);
      // Undici uses what it has in common with a socket.
      callback(null, opening as unknown as Socket);
    });
  };
}

/**
 * A stream in front of the socket, which stops reading without undici's doing. Undici's own pause will not do: version
 * 7, the last for Node 20, ends the process where an upstream closes a connection whose reader pauses (its issue 5360).
 */
export class Connection extends Duplex {
  #socket: Socket | undefined;
  #isHeld = false;
  #isFull = false;

  constructor() {
    super({ readableHighWaterMark: UNREAD_BYTES_MAX, decodeStrings: false, allowHalfOpen: false });
  }

  open(socket: Socket): void {
    this.#socket = socket;
    socket
      .on("end", () => this.push(null))
      .on("error", (error) => this.destroy(error))
      // What came before an end may still be taken.
      .on("close", () => socket.readableEnded || this.destroy());
  }

  /** Nobody has the connection before it is open. */
  get #open(): Socket {
    assert(this.#socket !== undefined);
    return this.#socket;
  }

  /** Takes what is in the buffer; false where no more is wanted for now. */
  onRead(length: number): boolean {
    // A copy from a view costs twice as much.
    const chunk = Buffer.allocUnsafe(length);
    readBuffer.copy(chunk, 0, 0, length);
    this.#isFull = !this.push(chunk);
    return !this.#isFull && !this.#isHeld;
  }

  /** Reads no more until `release`, so that an end is not heard either. What was read already is still told. */
  hold(): void {
    this.#isHeld = true;
    this.#open.pause();
  }

  release(): void {
    this.#isHeld = false;
    this.#resumeUnlessHeld();
  }

  /**
   * Its exchange is over. Where the answer came before the upstream took the whole request, it is closed: the rest
   * would stay in the socket, before the next request.
   */
  exchangeOver(): void {
    if (this.writableLength > 0) this.destroy();
    else this.release();
  }

  #resumeUnlessHeld(): void {
    if (!this.#isHeld && !this.#isFull) this.#open.resume();
  }

  ref(): this {
    this.#open.ref();
    return this;
  }

  unref(): this {
    this.#open.unref();
    return this;
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#resumeUnlessHeld();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#open.write(chunk, encoding, done);
  }

  override _writev(written: readonly Written[], done: Done): void {
    const socket = this.#open;
    socket.cork();
    written.forEach(({ chunk, encoding }, index) =>
      socket.write(chunk, encoding, index === written.length - 1 ? done : undefined),
    );
    socket.uncork();
  }

  override _final(done: Done): void {
    // It may have ended by itself, which is no failure here.
    this.#open.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket?.destroy();
    done(error);
  }
}
