/** Long bodies are put together by a thread, whichever way they come, and the event loop keeps nothing of them. */
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBodiesAsBytes } from "../../src/http/body-reader.js";
import { BodyThread } from "../../src/http/body-thread.js";

const MIB = 1024 * 1024;
const BYTES_MAX = 16 * MIB;

interface Told {
  readonly length: number;
  readonly digest: string;
  readonly isShared: boolean;
}

let app: FastifyInstance;
let port = 0;
let seen = 0;
/** The pieces of the last body, as they came. */
let pieces: Buffer[] = [];
beforeAll(async () => {
  app = fastify();
  readBodiesAsBytes(app, BYTES_MAX);
  app.addHook("preParsing", (_request, _reply, payload, done) => {
    pieces = [];
    payload.on("data", (piece: Buffer) => pieces.push(piece));
    done(null, payload);
  });
  app.post("/", (asked): Told => {
    seen += 1;
    const body = asked.body as Buffer;
    return { length: body.length, digest: digestOf(body), isShared: body.buffer instanceof SharedArrayBuffer };
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  port = (app.server.address() as AddressInfo).port;
});
afterAll(() => app.close());

function digestOf(body: Buffer): string {
  return createHash("sha256").update(body).digest("hex");
}

/** Sends it in pieces of odd sizes. */
function post(body: Buffer, isAnnounced: boolean): Promise<{ readonly status: number; readonly told: Told }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", ...(isAnnounced ? { "content-length": body.length } : {}) };
    const call = request({ port, method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, told: JSON.parse(Buffer.concat(chunks).toString()) as Told }),
      );
    });
    call.on("error", reject);
    for (let at = 0, size = 1; at < body.length; at += size, size = (size * 7 + 13) % 300_007)
      call.write(body.subarray(at, at + size));
    call.end();
  });
}

const LENGTHS = [1, 64 * 1024, 100_000, 256 * 1024, 256 * 1024 + 1, MIB, MIB + 1, 3 * MIB + 17, BYTES_MAX];
test.each(LENGTHS.flatMap((length) => [true, false].map((isAnnounced) => ({ length, isAnnounced }))))(
  "a body of $length bytes comes as it was sent, announced: $isAnnounced",
  async ({ length, isAnnounced }) => {
    const body = randomBytes(length);
    const { status, told } = await post(body, isAnnounced);
    expect(status).toBe(200);
    const isShared = length > (isAnnounced ? 64 : 256) * 1024;
    expect(told).toEqual({ length, digest: digestOf(body), isShared });
  },
);

test("the pieces of a body that comes in many are gone once they are in their place", async () => {
  await post(randomBytes(200_000), true);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.map(({ byteLength }) => byteLength)).toEqual(pieces.map(() => 0));
  await post(Buffer.alloc(1_000, 7), true);
  expect(Buffer.concat(pieces)).toEqual(Buffer.alloc(1_000, 7));
});

test("many at once stay apart", async () => {
  const bodies = Array.from({ length: 24 }, (_, index) => Buffer.alloc(MIB + 1 + index * 50_000, 65 + index));
  const all = await Promise.all(bodies.map((body, index) => post(body, index % 2 === 0)));
  expect(all.map(({ told }) => told.digest)).toEqual(bodies.map(digestOf));
});

test("one that is longer than it may be, or ends early, is refused, and the next is read", async () => {
  const before = seen;
  expect((await post(Buffer.alloc(BYTES_MAX + 1), false)).status).toBeGreaterThanOrEqual(400);
  const socket = connect(port, "127.0.0.1");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${8 * MIB}\r\n\r\n`);
  await new Promise((resolve) => socket.write(Buffer.alloc(3 * MIB), resolve));
  socket.destroy();
  await closed;
  expect(seen).toBe(before);
  const body = randomBytes(2 * MIB);
  expect((await post(body, true)).told.digest).toBe(digestOf(body));
});

test("a piece that was handed over leaves the event loop's memory at once", async () => {
  const thread = new BodyThread();
  const pieces = Array.from({ length: 32 }, (_, index) => Buffer.from(new ArrayBuffer(64 * 1024)).fill(index));
  const whole = Buffer.concat(pieces);
  const gathered = thread.begin(whole.length);
  for (const piece of pieces) gathered.add(piece);
  const ending = gathered.end();
  // What V8 would have to collect: this is what the thread is for.
  expect(pieces.map(({ length }) => length)).toEqual(pieces.map(() => 0));
  const body = await ending;
  expect(body.equals(whole)).toBe(true);
  expect(body.buffer).toBeInstanceOf(SharedArrayBuffer);
  // Memory that somebody else may use is not taken.
  const shared = Buffer.from(new ArrayBuffer(128 * 1024), 1_024, 64 * 1024).fill(7);
  const again = thread.begin(undefined);
  again.add(shared);
  expect((await again.end()).equals(Buffer.alloc(64 * 1024, 7))).toBe(true);
  expect(shared.length).toBe(64 * 1024);
  const dropped = thread.begin(MIB);
  dropped.add(Buffer.alloc(10));
  dropped.drop();
  const unfinished = thread.begin(MIB);
  await thread.close();
  await expect(unfinished.end()).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  expect(thread.isRunning).toBe(false);
});
