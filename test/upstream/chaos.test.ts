/** Upstreams end in every way, and readers pause, go on and leave at any moment. */
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Exchange } from "../../src/upstream/upstream.js";
import { pick, type Random, randomOf } from "../support/random.js";
import { Listener } from "./listener.js";
import { closeOpened, connect, get, serveBytes } from "./outbound.js";
import { SEED } from "../support/seeds.js";
import { bySweep } from "../support/sweep.js";

const CONNECTIONS = 4;
const EXCHANGES = 250;
const BYTES_MAX = 200_000;
/** How an answer is framed, and how the connection goes on behind it. */
const FRAMINGS = ["length", "length, then closed", "chunked", "until the end"] as const;
const FAULTS = ["none", "none", "none", "cut", "reset", "silence"] as const;

interface Plan {
  readonly bytes: number;
  readonly framing: (typeof FRAMINGS)[number];
  readonly fault: (typeof FAULTS)[number];
}

afterEach(closeOpened);

/** Bytes that tell where they belong: they come again after 251. */
const bodyOf = (id: number, bytes: number): Buffer =>
  Buffer.alloc(bytes, Buffer.from(Array.from({ length: 251 }, (_, at) => (at * 31 + id) % 251)));

/** Writes the answer in pieces, in one turn or in several, up to where its fault is. */
async function answer(socket: Socket, id: number, { bytes, framing, fault }: Plan, random: Random): Promise<void> {
  const isClosed = framing === "until the end" || framing === "length, then closed";
  const length = framing.startsWith("length") ? `content-length: ${bytes}\r\n` : "";
  const chunked = framing === "chunked" ? "transfer-encoding: chunked\r\n" : "";
  socket.write(`HTTP/1.1 200 OK\r\n${length}${chunked}${isClosed ? "connection: close\r\n" : ""}\r\n`);
  const body = bodyOf(id, bytes);
  const end = fault === "none" ? bytes : Math.floor(random() * bytes);
  for (let at = 0, size = 0; at < end; at += size) {
    size = Math.min(end - at, 1 + Math.floor(random() * random() * 90_000));
    const piece = body.subarray(at, at + size);
    if (framing === "chunked") socket.write(`${size.toString(16)}\r\n`);
    socket.write(piece);
    if (framing === "chunked") socket.write("\r\n");
    if (random() < 0.3) await setImmediate();
  }
  if (fault === "silence") return;
  if (fault === "reset") return void socket.resetAndDestroy();
  if (fault === "cut") return void socket.end();
  if (framing === "chunked") socket.write("0\r\n\r\n");
  if (isClosed) socket.end();
}

/** Pauses at some moments, and goes on at once, in a turn or in two; leaves what never ends, and some others. */
function use(exchange: Exchange, heard: Listener, { fault }: Plan, random: Random): Promise<"left" | "over"> {
  return new Promise((resolve) => {
    const leave = (): void => {
      exchange.abort();
      resolve("left");
    };
    heard.ended.then(
      () => resolve("over"),
      () => resolve("over"),
    );
    const pause = (): void => {
      if (random() < 0.6) return;
      exchange.pause();
      const turns = Math.floor(random() * 3);
      if (random() < 0.03) return leave();
      if (turns === 0) return exchange.resume();
      void (async () => {
        for (let turn = 0; turn < turns; turn++) await setImmediate();
        exchange.resume();
      })();
    };
    heard.on("head", pause);
    heard.on("data", pause);
    if (fault === "silence") setTimeout(leave, 30 + random() * 30);
  });
}

/** In the long form others each time. */
const others = Array.from({ length: 8 }, (_, place) => SEED + place);
const SEEDS = bySweep({ short: [1, 2], long: others, all: others });

test.each(SEEDS)("every byte arrives and every connection is free again: seed %i", async (seed) => {
  const random = randomOf(seed);
  const plans = Array.from({ length: EXCHANGES }, (): Plan => {
    const bytes = Math.floor(random() ** 3 * BYTES_MAX);
    const [framing, fault] = [pick(random, FRAMINGS), pick(random, FAULTS)];
    // An answer that says that nothing follows is over before its fault.
    return { bytes, framing, fault: bytes === 0 && framing.startsWith("length") ? "none" : fault };
  });
  let waiting = 0;
  const origin = await serveBytes((socket) => {
    socket.on("error", () => {});
    socket.on("data", (request) => {
      const id = Number(/^GET \/(\d+)/.exec(request.toString("latin1"))?.[1] ?? NaN);
      const plan = plans[id];
      if (plan === undefined) waiting += 1;
      // Of its own, since nobody knows in which order they come.
      else void answer(socket, id, plan, randomOf(seed * 1_000 + id));
    });
  });
  const upstream = connect(origin, { connections: CONNECTIONS });
  const outcomes = plans.map(async (plan, id) => {
    const heard = new Listener();
    const outcome = await use(upstream.send(get(`/${id}`), heard), heard, plan, randomOf(-seed * 1_000 - id));
    return { outcome, heard };
  });
  for (const [id, { outcome, heard }] of (await Promise.all(outcomes)).entries()) {
    const { bytes, framing, fault } = plans[id] as Plan;
    const got = Buffer.concat(heard.chunks);
    const name = `${id}: ${bytes} bytes ${framing}, ${fault}, ${heard.calls.join()} ${heard.code ?? ""}`;
    expect(got.equals(bodyOf(id, bytes).subarray(0, got.length)), name).toBe(true);
    // An end is the whole body, but where nothing says how long it is: undici takes a reset for the end there as well.
    if (heard.calls.at(-1) === "end" && framing !== "until the end")
      expect([fault, got.length], name).toEqual(["none", bytes]);
    if (fault === "none" && outcome === "over") expect([heard.calls.at(-1), got.length], name).toEqual(["end", bytes]);
  }
  // As many exchanges as there are connections run at once.
  for (let count = 0; count < CONNECTIONS; count++) upstream.send(get("/wait"), new Listener());
  await expect.poll(() => waiting).toBe(CONNECTIONS);
});
