/** What is read of a connection: every byte, in order, over TCP and TLS, however the reader pauses. */
import { createHash } from "node:crypto";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createHttpUpstream } from "../../src/upstream/http.js";
import type { Exchange, Upstream } from "../../src/upstream/upstream.js";
import { makeCertificate } from "../support/certificate.js";
import { allowTimeToFail } from "../support/pauses.js";
import { Listener } from "./listener.js";
import { closeOpened, connect, get, listen } from "./outbound.js";

const BODY_BYTES = 3_000_000;
const FLOOD_BYTES = 50_000_000;
const HEADS = {
  "of known length": `content-length: ${BODY_BYTES}\r\n\r\n`,
  chunked: "transfer-encoding: chunked\r\n\r\n",
  "until the connection ends": "connection: close\r\n\r\n",
};
type Framing = keyof typeof HEADS;

/** Bytes that tell where they belong, other ones for each seed. */
function bodyOf(seed: number): Buffer {
  const body = Buffer.alloc(BODY_BYTES);
  for (let at = 0; at + 4 <= BODY_BYTES; at += 4) body.writeUInt32LE((at * 2_654_435_761 + seed) >>> 0, at);
  return body;
}

const hashOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** How much of the last flood was written. */
let flooded = 0;

/** Writes as long as somebody reads. */
function flood(socket: Socket): void {
  const block = Buffer.alloc(65_536, "x");
  flooded = 0;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${FLOOD_BYTES}\r\n\r\n`);
  const fill = (): void => {
    while (flooded < FLOOD_BYTES) {
      flooded += block.length;
      if (!socket.write(block)) return;
    }
  };
  socket.on("drain", fill);
  fill();
}

/** Answers with a few bytes, and ends the connection a while after them. */
function endLate(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc");
  setTimeout(() => socket.end(), 20);
}

/** Answers each request by its path, `/SEED/FRAMING`, in pieces of many sizes. */
function answer(socket: Socket): void {
  socket.on("error", () => {});
  socket.on("data", (request) => {
    if (request.includes("GET /flood")) return flood(socket);
    if (request.includes("GET /late")) return endLate(socket);
    const [, seed = "", framing = ""] = /^GET \/(\d+)\/(\S+)/.exec(request.toString("latin1")) ?? [];
    const head = HEADS[decodeURIComponent(framing) as Framing];
    socket.write(`HTTP/1.1 200 OK\r\n${head}`);
    const body = bodyOf(Number(seed));
    const isChunked = head === HEADS.chunked;
    for (let at = 0, size = 1; at < BODY_BYTES; at += size, size = (size * 7 + 3) % 90_001) {
      const piece = body.subarray(at, at + size);
      if (isChunked) socket.write(`${piece.length.toString(16)}\r\n`);
      socket.write(piece);
      if (isChunked) socket.write("\r\n");
    }
    if (isChunked) socket.write("0\r\n\r\n");
    if (head === HEADS["until the connection ends"]) socket.end();
  });
}

describe.each(["http", "https"] as const)("over %s", (protocol) => {
  let server: Server;
  let upstream: Upstream;

  beforeAll(async () => {
    server = protocol === "http" ? createTcpServer(answer) : createTlsServer(makeCertificate(), answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    // The certificate is of its own making; undici reads this where it connects.
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    upstream = createHttpUpstream({ baseUrl: `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    await upstream.close();
    await new Promise((resolve) => server.close(resolve));
  });

  function send(seed: number, framing: Framing): { readonly heard: Listener; readonly exchange: Exchange } {
    const heard = new Listener();
    const path = `/${seed}/${encodeURIComponent(framing)}`;
    return { heard, exchange: upstream.send({ method: "GET", path, headers: {}, body: undefined }, heard) };
  }

  describe.each(Object.keys(HEADS) as Framing[])("a body %s", (framing) => {
    test("arrives whole, beside others", async () => {
      const all = Array.from({ length: 5 }, (_, seed) => send(seed, framing));
      await Promise.all(all.map(({ heard }) => heard.ended));
      for (const [seed, { heard }] of all.entries())
        expect(hashOf(Buffer.concat(heard.chunks))).toBe(hashOf(bodyOf(seed)));
    });

    test("arrives whole where its reader pauses again and again", async () => {
      const { heard, exchange } = send(7, framing);
      let pauses = 0;
      heard.on("data", () => {
        if (heard.chunks.length % 3 !== 0) return;
        pauses += 1;
        exchange.pause();
        setTimeout(() => exchange.resume(), pauses % 4);
      });
      await heard.ended;
      expect(hashOf(Buffer.concat(heard.chunks))).toBe(hashOf(bodyOf(7)));
      expect(pauses).toBeGreaterThan(10);
    });

    test("waits for a reader that paused before it, and for no other", async () => {
      const { heard, exchange } = send(8, framing);
      exchange.pause();
      const other = send(9, framing);
      await other.heard.ended;
      expect(heard.bytes).toBeLessThan(BODY_BYTES);
      exchange.resume();
      await heard.ended;
      expect(hashOf(Buffer.concat(heard.chunks))).toBe(hashOf(bodyOf(8)));
    });
  });

  /** Asks for a path of its own, of a reader that pauses for a while with each call that brings bytes. */
  async function heardSlowly(path: string, pauseMs: number): Promise<Listener> {
    const heard = new Listener();
    const exchange = upstream.send({ method: "GET", path, headers: {}, body: undefined }, heard);
    heard.on("data", () => {
      exchange.pause();
      setTimeout(() => exchange.resume(), pauseMs);
    });
    await heard.ended;
    return heard;
  }

  test.each([0, 100])("an end waits for a reader that paused on the last bytes, for %i ms", async (pauseMs) => {
    const heard = await heardSlowly("/late", pauseMs);
    expect(heard.text).toBe("abc");
    expect(heard.calls).toEqual(["head", "data", "end"]);
  });

  test("a reader that pauses with each read gets all", async () => {
    const heard = await heardSlowly(`/11/${encodeURIComponent("until the connection ends")}`, 0);
    expect(hashOf(Buffer.concat(heard.chunks))).toBe(hashOf(bodyOf(11)));
  });

  test("an upstream waits where nobody reads", async () => {
    const heard = new Listener({ keep: false });
    const exchange = upstream.send({ method: "GET", path: "/flood", headers: {}, body: undefined }, heard);
    heard.on("head", () => exchange.pause());
    await heard.until("head");
    // The kernel's buffers fill up; then nothing moves any more.
    for (let before = -1; before !== flooded; await allowTimeToFail(200)) before = flooded;
    expect(flooded).toBeLessThan(FLOOD_BYTES / 3);
    exchange.abort();
  });

  test("what was handed over is not written over by what comes later", async () => {
    const { heard } = send(10, "chunked");
    const seen: string[] = [];
    heard.on("data", () => seen.push(hashOf(heard.chunks.at(-1) ?? Buffer.alloc(0))));
    await heard.ended;
    expect(heard.chunks.map(hashOf)).toEqual(seen);
  });
});

test("connections over TLS share their sessions", async () => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  let resumed = 0;
  const origin = await listen(
    createTlsServer(makeCertificate(), (socket) => {
      if (socket.isSessionReused()) resumed += 1;
      socket.on("error", () => {});
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    }),
    "https",
  );
  onTestFinished(closeOpened);
  const upstream = connect(origin);
  const ask = async (): Promise<void> => {
    const heard = new Listener();
    upstream.send(get("/"), heard);
    await heard.ended;
  };
  await ask();
  await Promise.all(Array.from({ length: 10 }, ask));
  expect(resumed).toBeGreaterThan(5);
});
