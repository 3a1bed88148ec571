/** Reads a body as it comes. A long one is put into memory that other threads see, the longest by a thread. */
import type { FastifyInstance } from "fastify";
import type { Readable } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import { ownMemory } from "../base/bytes/bytes.js";
import { withoutByteOrderMark } from "../base/bytes/byte-order-mark.js";
import { copyShared, emptySharedBytes, sharedBytes } from "../base/bytes/shared-bytes.js";
import { bodyTooLarge } from "../base/bytes/body-limit.js";
import { CountedBody, endedEarly, LONG_BYTES } from "./body-check.js";
import { BodyThread, type GatheredBody } from "./body-thread.js";

/** A longer body is put together by a thread; the event loop is quicker with a shorter one than with its message. */
const GATHERED_BYTES = 1024 * 1024;
/** Node reads so much at once: a body of no more comes in one piece, as most do, and is that piece. */
const PIECE_BYTES = 64 * 1024;

const free = freeing();

/** Bodies stay as they came: the service reads them, or the mapper of the management routes. */
export function readBodiesAsBytes(app: FastifyInstance, bytesMax: number): void {
  const thread = new BodyThread();
  app.addHook("onClose", () => thread.close());
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", ({ headers, routeOptions, bodyLease }, payload, done) => {
    const announced = headers["content-length"];
    const bytes = announced === undefined ? undefined : Number(announced);
    const most = routeOptions.config.bodyBytesMax ?? bytesMax;
    const counted = bytes === undefined && bodyLease !== undefined ? payload.pipe(new CountedBody(bodyLease)) : payload;
    read({ payload: counted, announcedBytes: bytes, bytesMax: most, thread }, done);
  });
}

type Done = (error: Error | null, body?: Buffer) => void;

interface BodyOnItsWay {
  readonly payload: Readable;
  readonly announcedBytes: number | undefined;
  readonly bytesMax: number;
  readonly thread: BodyThread;
}

/** Calls back with a refusal where it has more bytes than it may, or others than were announced. */
function read({ payload, announcedBytes, bytesMax, thread }: BodyOnItsWay, done: Done): void {
  const pieces = piecesOf(announcedBytes, thread);
  let bytes = 0;
  let isOver = false;
  const onData = (chunk: Buffer): void => {
    if (isOver) return;
    const start = bytes;
    bytes += chunk.length;
    if (bytes > Math.min(bytesMax, announcedBytes ?? bytesMax)) over(bodyTooLarge(bytesMax));
    else pieces.add(chunk, start);
  };
  // A stream that is over may keep its listeners: to take them off costs more than they do.
  const over = (error?: Error): void => {
    if (isOver) return;
    isOver = true;
    const problem = error ?? (announcedBytes !== undefined && bytes !== announcedBytes ? endedEarly() : undefined);
    if (problem !== undefined) {
      pieces.drop();
      done(problem);
      return;
    }
    const body = pieces.whole(bytes);
    if (body instanceof Promise) body.then((made) => done(null, withoutByteOrderMark(made)), done);
    else done(null, withoutByteOrderMark(body));
  };
  // A stream ends without an argument, and with one where it failed.
  payload.on("data", onData).on("end", over).on("error", over);
  // A client that left in the middle may say so in no other way.
  if (announcedBytes === undefined || announcedBytes > GATHERED_BYTES) payload.on("close", () => over(endedEarly()));
  payload.resume();
}

/** The pieces of a body until it is whole. */
interface Pieces {
  add(chunk: Buffer, start: number): void;
  whole(bytes: number): Buffer | Promise<Buffer>;
  drop(): void;
}

function piecesOf(announcedBytes: number | undefined, thread: BodyThread): Pieces {
  if (announcedBytes === undefined) return new UnannouncedPieces(thread);
  if (announcedBytes <= PIECE_BYTES) return new ShortPieces();
  return announcedBytes <= GATHERED_BYTES
    ? new PlacedPieces(announcedBytes)
    : new GatheredPieces(thread.begin(announcedBytes));
}

class ShortPieces implements Pieces {
  readonly chunks: Buffer[] = [];

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  whole(bytes: number): Buffer | Promise<Buffer> {
    return bytes <= LONG_BYTES ? whole(this.chunks, bytes) : sharedBytes(this.chunks, bytes);
  }

  drop(): void {}
}

/** Each is put where it belongs as it comes, and gone: V8 counts pieces, and would collect its whole heap for them. */
class PlacedPieces implements Pieces {
  readonly #body: Buffer;

  constructor(announcedBytes: number) {
    this.#body = emptySharedBytes(announcedBytes);
  }

  add(chunk: Buffer, start: number): void {
    copyShared(chunk, this.#body, start);
    const memory = ownMemory(chunk);
    if (memory !== undefined) free(memory);
  }

  whole(): Buffer {
    return this.#body;
  }

  drop(): void {}
}

class GatheredPieces implements Pieces {
  constructor(private readonly body: GatheredBody) {}

  add(chunk: Buffer): void {
    this.body.add(chunk);
  }

  whole(): Promise<Buffer> {
    return this.body.end();
  }

  drop(): void {
    this.body.drop();
  }
}

/** Nobody knows how many will come: the thread gets them once they are many. */
class UnannouncedPieces implements Pieces {
  readonly #short = new ShortPieces();
  #gathered: GatheredPieces | undefined;

  constructor(private readonly thread: BodyThread) {}

  add(chunk: Buffer, start: number): void {
    const end = start + chunk.length;
    if (this.#gathered === undefined && end <= GATHERED_BYTES) return this.#short.add(chunk);
    if (this.#gathered === undefined) {
      this.#gathered = new GatheredPieces(this.thread.begin(undefined));
      for (const one of this.#short.chunks.splice(0)) this.#gathered.add(one);
    }
    this.#gathered.add(chunk);
  }

  whole(bytes: number): Buffer | Promise<Buffer> {
    return this.#gathered?.whole() ?? this.#short.whole(bytes);
  }

  drop(): void {
    this.#gathered?.drop();
  }
}

/** A body that came in one piece is that piece. */
function whole(chunks: readonly Buffer[], bytes: number): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes);
}

function freeing(): (memory: ArrayBuffer & { transfer?(bytes: number): unknown }) => void {
  if ("transfer" in ArrayBuffer.prototype) return (memory) => memory.transfer?.(0);
  // Node 20 has no `transfer`; what a closed port is given is gone as well.
  const { port1 } = new MessageChannel();
  port1.close();
  return (memory) => port1.postMessage(undefined, [memory]);
}
