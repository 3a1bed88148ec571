/** Reads a body as it comes. A long one is put into memory that other threads see, piece by piece as it arrives. */
import type { FastifyInstance } from "fastify";
import type { Readable } from "node:stream";
import { withoutByteOrderMark } from "../api/byte-order-mark.js";
import { emptySharedBytes, sharedBytes } from "../api/shared-bytes.js";
import { bodyTooLarge } from "../api/body-limit.js";
import { CountedBody, endedEarly, LONG_BYTES } from "./body-check.js";

/** Bodies stay as they came: the service reads them, or the mapper of the management routes. */
export function readBodiesAsBytes(app: FastifyInstance, bytesMax: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", ({ headers, routeOptions, bodyLease }, payload, done) => {
    const announced = headers["content-length"];
    const bytes = announced === undefined ? undefined : Number(announced);
    const most = routeOptions.config.bodyBytesMax ?? bytesMax;
    const counted = bytes === undefined && bodyLease !== undefined ? payload.pipe(new CountedBody(bodyLease)) : payload;
    read(counted, bytes, most, (error, body) => done(error, body && withoutByteOrderMark(body)));
  });
}

type Done = (error: Error | null, body?: Buffer) => void;

/** Calls back with a refusal where it has more bytes than it may, or others than were announced. */
function read(payload: Readable, announcedBytes: number | undefined, bytesMax: number, done: Done): void {
  const body =
    announcedBytes !== undefined && announcedBytes > LONG_BYTES ? emptySharedBytes(announcedBytes) : undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isOver = false;
  const onData = (chunk: Buffer): void => {
    if (isOver) return;
    const start = bytes;
    bytes += chunk.length;
    if (bytes > Math.min(bytesMax, announcedBytes ?? bytesMax)) over(bodyTooLarge(bytesMax));
    else if (body === undefined) chunks.push(chunk);
    else body.set(chunk, start);
  };
  // A stream that is over may keep its listeners: to take them off costs more than they do.
  const over = (error: Error | undefined): void => {
    if (isOver) return;
    isOver = true;
    if (error !== undefined) done(error);
    else if (announcedBytes !== undefined && bytes !== announcedBytes) done(endedEarly());
    else if (body !== undefined) done(null, body);
    else if (bytes <= LONG_BYTES) done(null, whole(chunks, bytes));
    else sharedBytes(chunks, bytes).then((body) => done(null, body), done);
  };
  const onEnd = (): void => over(undefined);
  payload.on("data", onData).on("end", onEnd).on("error", over);
  payload.resume();
}

/** A body that came in one piece, as most do, is that piece. */
function whole(chunks: readonly Buffer[], bytes: number): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, bytes);
}
