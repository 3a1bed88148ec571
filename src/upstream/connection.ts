/** One connection to an upstream: how it is opened, how what arrives on it is read, and how it waits for its reader. */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { buildConnector } from "undici";

/** What libuv suggests for one read. All connections share it: what it holds is copied out before the next read. */
const arriving = Buffer.allocUnsafeSlow(64 * 1024);
/** A connection stops to read once it holds this much that undici did not take: one full read is no reason. */
const UNREAD_BYTES_MAX = 2 * arriving.length;

type Done = (error?: Error | null) => void;
interface Written {
  readonly chunk: Buffer | string;
  readonly encoding: BufferEncoding;
}

/** Opens a connection, which is there before undici hears of it. */
export type Connect = (...asked: [...Parameters<buildConnector.connector>, (opened: Connection) => void]) => void;

/**
 * Opens connections over TCP or TLS, whose sessions they share. A read is put into one buffer and copied out at its
 * size: a socket by itself takes 64 KiB for each.
 */
export function createConnector(timeoutMs: number): Connect {
  const onread = { buffer: arriving, callback: (_length: number): boolean => true };
  // It is an option of the socket, to which they all go; the type lists but some.
  const connector = buildConnector({ timeout: timeoutMs, onread } as buildConnector.BuildOptions);
  return (options, callback, onOpen) => {
    const opening = new Connection();
    // The socket takes it as it is made.
    onread.callback = (length) => opening.arrived(length);
    connector(options, (...opened) => {
      const [error, socket] = opened;
      if (error !== null) return callback(error, null);
      opening.open(socket);
      onOpen(opening);
      // Undici uses what it has in common with a socket.
      callback(null, opening as unknown as Socket);
    });
  };
}

/**
 * A stream in front of the socket, which stops to read without undici's doing. Undici's own pause will not do: version
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

  /** Takes what is in the buffer; false where no more is wanted for now. */
  arrived(length: number): boolean {
    // A copy from a view costs twice as much.
    const chunk = Buffer.allocUnsafe(length);
    arriving.copy(chunk, 0, 0, length);
    this.#isFull = !this.push(chunk);
    return !this.#isFull && !this.#isHeld;
  }

  /** Reads no more until `release`, so that an end is not heard either. What was read already is still told. */
  hold(): void {
    this.#isHeld = true;
    this.#socket?.pause();
  }

  release(): void {
    this.#isHeld = false;
    this.#go();
  }

  /** Its exchange is over. An answer that came before all was taken that is on its way leaves the rest to nobody. */
  free(): void {
    if (this.writableLength > 0) this.destroy();
    else this.release();
  }

  #go(): void {
    if (!this.#isHeld && !this.#isFull) this.#socket?.resume();
  }

  ref(): this {
    this.#socket?.ref();
    return this;
  }

  unref(): this {
    this.#socket?.unref();
    return this;
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#go();
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#socket?.write(chunk, encoding, done);
  }

  override _writev(written: readonly Written[], done: Done): void {
    this.#socket?.cork();
    written.forEach(({ chunk, encoding }, index) =>
      this.#socket?.write(chunk, encoding, index === written.length - 1 ? done : undefined),
    );
    this.#socket?.uncork();
  }

  override _final(done: Done): void {
    // It may have ended by itself, which is no failure here.
    this.#socket?.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket?.destroy();
    done(error);
  }
}
