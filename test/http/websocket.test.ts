/** WebSockets at the edge: how many, how long, how slow, and how they end, over a scripted service. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ByteBudget } from "../../src/base/bytes/byte-budget.js";
import { type Event, UsageSource } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import type { SourceBody } from "../../src/formats/format.js";
import { openaiResponses } from "../../src/formats/openai-responses.js";
import type { FrontRefusal } from "../../src/http/front.js";
import type { HttpServerOptions } from "../../src/http/server.js";
import { FullQueue, OVERLOADED } from "../support/full-queue.js";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { pace } from "../support/pauses.js";
import { RawClient } from "../support/raw-http.js";
import { SocketClient } from "../support/websocket-client.js";

const STREAM = { "tollgate-form": "stream", "x-request-id": "req_1" };
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const DELTA = { type: "response.output_text.delta", sequence_number: 1, delta: "x" };
const DONE = { type: "response.completed", sequence_number: 2, response: { id: "resp_1", output: [] } };
const event = (data: object): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`);
const ASK = { model: "toy-1", input: "hello" };
const MIB = 1024 * 1024;

/** How long a message may take. */
const SLOW_MS = 15_000;

let it: TestServer;
/** A clock for the servers that are given it. They look at it each few milliseconds. */
let nowMs = 0;
const TIMED: Partial<HttpServerOptions> = { nowMs: () => nowMs, heartbeatMs: 20 };
const clients: SocketClient[] = [];
afterEach(async () => {
  nowMs = 0;
  for (const client of clients.splice(0)) client.close();
  await it.close();
});

async function start(options: Partial<HttpServerOptions> = {}): Promise<void> {
  it = await startServer({ formats: [openaiResponses], ...options });
}

async function open(): Promise<SocketClient> {
  const client = await SocketClient.open(it.url, "sk-good");
  clients.push(client);
  return client;
}

/** Resolves once the server has read what came before. */
async function readBefore({ webSocket }: SocketClient): Promise<void> {
  const answered = once(webSocket, "pong");
  webSocket.ping();
  await answered;
}

/** Answers with one event, waits for `go`, and ends well. */
function answerIn(steps: { go: () => void }): void {
  it.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(STREAM);
    sink.data({ source: event(DELTA) });
    await new Promise<void>((resolve, reject) => {
      steps.go = resolve;
      signal.addEventListener("abort", () => reject(new GatewayError("ERROR_REASON_CANCELLED")));
    });
    sink.data({ source: event(DONE), events: [FINISH] });
  };
}

test("a message that found no room is refused on the socket, which lives, and is counted once", async () => {
  const queue = new FullQueue();
  queue.isFree = true;
  await start({ queue });
  answerIn({ go: () => undefined });
  const client = await open();
  queue.isFree = false;
  client.webSocket.send(JSON.stringify({ type: "response.create", ...ASK }));
  await until(() => queue.waiting.length === 1, "it waits");
  expect(queue.waiting[0]?.account).toContain("sk-good");
  const before = it.samples.length;
  queue.waiting[0]?.request.refuse(OVERLOADED);
  await until(() => client.events.length === 1, "the refusal");
  expect(client.events[0]).toMatchObject({ type: "error", status: 503, error: { code: "overloaded" } });
  // As one over HTTP, it leaves no record.
  await until(() => it.samples.length === before + 1, "it is counted");
  expect([it.samples.at(-1), it.refusals]).toEqual([{ route: "/v1/responses", status: 503 }, []]);
  await readBefore(client);
  expect(client.closed).toBeUndefined();
});

test("a key has so many and no more, and has room again once one closes", async () => {
  await start({ socketsPerKeyMax: 2 });
  const [first] = [await open(), await open()];
  const refusal = await SocketClient.refused(it.url, "sk-good");
  expect(refusal).toMatchObject({ status: 429, error: { code: "rate_limit_exceeded" } });
  expect(refusal.error["message"]).toContain("websockets of the key is 2");
  first.close();
  await expect
    .poll(() =>
      open().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});

test("all have so many together", async () => {
  await start({ socketsMax: 1 });
  await open();
  expect(await SocketClient.refused(it.url, "sk-good")).toMatchObject({ status: 503, error: { code: "overloaded" } });
});

test("an old one says so in the way that clients know, and closes; what runs ends well first", async () => {
  const refusals: FrontRefusal[] = [];
  await start({ ...TIMED, socketAgeMsMax: 60_000, onRefused: (refusal) => refusals.push(refusal) });
  const steps = { go: () => undefined };
  answerIn(steps);
  const client = await open();
  client.create(ASK);
  await client.until(({ type }) => type === DELTA.type);
  // It asks whether the client lives whenever it looks how old the connection is.
  const looked = once(client.webSocket, "ping");
  nowMs = 60_000;
  await looked;
  expect(client.closed).toBeUndefined();
  steps.go();
  expect((await client.answer()).at(-1)).toMatchObject({ type: "response.completed" });
  const [told] = await client.answer();
  expect(told).toMatchObject({ type: "error", error: { code: "websocket_connection_limit_reached" } });
  // The service saw no request, so the front end tells of it.
  const [refusal] = refusals;
  expect(refusal).toMatchObject({ error: { reason: "ERROR_REASON_CONNECTION_TOO_OLD" }, route: "/v1/responses" });
  expect(told?.["headers"]).toMatchObject({ "x-request-id": refusal?.requestId });
  expect(await client.end()).toMatchObject({ code: 1000 });
});

test("a stopping server closes those at rest, lets the others finish, and takes no new ones", async () => {
  await start();
  const steps = { go: () => undefined };
  answerIn(steps);
  const [idle, busy] = [await open(), await open()];
  busy.create(ASK);
  await busy.until(({ type }) => type === DELTA.type);
  const drained = it.server.drain(60_000);
  expect(await idle.end()).toMatchObject({ code: 1012 });
  expect(busy.closed).toBeUndefined();
  busy.create(ASK);
  steps.go();
  expect((await busy.answer()).at(-1)).toMatchObject({ type: "response.completed" });
  expect(await busy.end()).toMatchObject({ code: 1012 });
  await drained;
  expect(it.channel.called.filter((name) => name === "StreamGenerate")).toHaveLength(1);
});

test("what does not end in time is told so when the server stops", async () => {
  await start();
  answerIn({ go: () => undefined });
  const client = await open();
  client.create(ASK);
  await client.until(({ type }) => type === DELTA.type);
  await it.server.drain(20);
  expect(client.events.at(-1)).toMatchObject({ type: "error", code: "overloaded" });
  expect(await client.end()).toMatchObject({ code: 1012 });
});

test.each([
  { name: "its key may ask no more", reason: "ERROR_REASON_KEY_REVOKED", code: 1008, told: 1 },
  { name: "the service stops", reason: "ERROR_REASON_OVERLOADED", code: 1012, told: 0 },
] as const)("it closes with $code where $name, behind the answer that runs", async ({ reason, code, told }) => {
  await start();
  const steps = { go: () => undefined };
  answerIn(steps);
  let end = (): void => undefined;
  it.channel.watchScript = () => new Promise((_resolve, reject) => (end = () => reject(new GatewayError(reason))));
  const client = await open();
  client.create(ASK);
  await client.until(({ type }) => type === DELTA.type);
  end();
  await readBefore(client);
  expect(client.closed).toBeUndefined();
  steps.go();
  expect((await client.answer()).at(-1)).toMatchObject({ type: "response.completed" });
  expect(await client.end()).toMatchObject({ code });
  expect(client.events.filter(({ type }) => type === "error")).toHaveLength(told);
});

test("a client that leaves aborts the call, and is watched no more", async () => {
  await start();
  let aborted = 0;
  it.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(STREAM);
    sink.data({ source: event(DELTA) });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted++;
    throw new GatewayError("ERROR_REASON_CANCELLED");
  };
  it.channel.watchScript = ({ signal }) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => {
        aborted++;
        reject(new GatewayError("ERROR_REASON_CANCELLED"));
      }),
    );
  const client = await open();
  client.create(ASK);
  await client.until(({ type }) => type === DELTA.type);
  client.close();
  await until(() => aborted === 2, "both calls end");
});

test("a reader that takes nothing is waited for, then cut; one that goes on has all of it in order", async () => {
  await start({ blockedMsMax: 300, heartbeatMs: 40 });
  const batch = event({ ...DELTA, delta: "y".repeat(MIB) });
  let pushed = 0;
  let ended = 0;
  const flood: typeof it.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(STREAM);
    const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    for (let n = 0; n < 24 && !signal.aborted; n++) {
      pushed++;
      if (sink.data({ source: batch })) continue;
      await Promise.race([gone, new Promise<void>((resolve) => sink.onDrain(resolve))]);
    }
    ended++;
    if (signal.aborted) throw new GatewayError("ERROR_REASON_CANCELLED");
    sink.data({ source: event(DONE), events: [FINISH] });
  };
  it.channel.streamScript = flood;
  const stuck = await open();
  stuck.webSocket.pause();
  stuck.create(ASK);
  await until(() => ended === 1, "the reader is cut");
  expect(pushed).toBeLessThan(24);
  pushed = 0;
  // Its pause is far from the bound, also on a machine with other work beside.
  await it.close();
  await start({ blockedMsMax: 30_000, heartbeatMs: 40 });
  it.channel.streamScript = flood;
  const slow = await open();
  slow.create(ASK);
  await until(() => pushed > 1, "it began");
  slow.webSocket.pause();
  await pace(50);
  slow.webSocket.resume();
  const events = await slow.answer();
  expect(events).toHaveLength(25);
  expect(events.slice(0, 24).every(({ delta }) => String(delta).length === MIB)).toBe(true);
});

test("a message that comes too slowly, and a client that answers no ping, are cut", async () => {
  await start(TIMED);
  const sockets: Socket[] = [];
  it.server.app.server.on("connection", (socket: Socket) => sockets.push(socket));
  const [dribbling, silent] = [await raw(), await raw()];
  const before = sockets[0]?.bytesRead ?? 0;
  dribbling.socket.write(Buffer.from([0x81, 0xfe, 0x40, 0x00, 0, 0, 0, 0, 0x7b]));
  await until(() => (sockets[0]?.bytesRead ?? 0) > before, "the begin of the message");
  nowMs = SLOW_MS + 100;
  await until(() => dribbling.closed, "the slow one is cut");
  expect(silent.closed).toBe(false);
  await until(() => ((nowMs += 20), silent.closed), "the silent one is cut");
});

test("a client at rest is not slow, before its first message, behind pongs and between messages", async () => {
  await start(TIMED);
  it.channel.streamScript = (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: event(DONE), events: [FINISH] });
    return Promise.resolve();
  };
  const client = await open();
  for (let round = 0; round < 3; round += 1) {
    // Many pongs, and several times as long as a message may take.
    for (let endMs = nowMs + 3 * SLOW_MS; nowMs < endMs;) {
      const asked = once(client.webSocket, "ping");
      nowMs += 1_000;
      await asked;
      await readBefore(client);
    }
    expect(await client.ask(ASK)).toHaveLength(1);
  }
});

test("a long message is read beside the event loop, also where it only prepares", async () => {
  const prepared: number[] = [];
  const prepareLong = (source: SourceBody, holder: string): Promise<SourceBody> => {
    expect(holder).not.toBe("");
    prepared.push(source.body.length);
    return Promise.resolve(source);
  };
  await start({ prepareLong });
  it.channel.streamScript = (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: event(DONE), events: [FINISH] });
    return Promise.resolve();
  };
  it.channel.unaryScripts.set("EstimateCost", () => new Uint8Array());
  const client = await open();
  await client.ask(ASK);
  expect(prepared).toEqual([]);
  await client.ask({ ...ASK, input: "a".repeat(MIB) });
  await client.ask({ ...ASK, input: "a".repeat(MIB), generate: false });
  expect(prepared).toEqual([expect.any(Number), expect.any(Number)]);
});

test("a conversation longer than a message may be is not gone on from, and has to be told again", async () => {
  await start();
  let asked = 0;
  it.channel.streamScript = (_request, sink) => {
    asked += 1;
    sink.head(STREAM);
    sink.data({ source: event(DONE), events: [FINISH] });
    return Promise.resolve();
  };
  const client = await open();
  const input = "a".repeat(1.5 * MIB);
  const next = { ...ASK, input, previous_response_id: "resp_1" };
  await client.ask({ ...ASK, input });
  await client.ask(next);
  const [refusal] = await client.ask(next);
  expect(refusal).toMatchObject({ type: "error", error: { code: "previous_response_not_found" } });
  expect(asked).toBe(2);
});

test.each([
  { name: "before its first event", begins: false },
  { name: "behind an event", begins: true },
])("what a response went on from that failed $name is forgotten, and nothing else is", async ({ begins }) => {
  await start();
  const failing = (body: string): boolean => body.includes("fail");
  it.channel.streamScript = (request, sink) => {
    const { input } = request.generation ?? {};
    const body = input?.$case === "source" ? input.value.body.toString() : "";
    if (failing(body) && !begins) throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED");
    sink.head(STREAM);
    if (failing(body)) sink.data({ source: event(DELTA) });
    if (failing(body)) throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED");
    sink.data({ source: event(DONE), events: [FINISH] });
    return Promise.resolve();
  };
  const client = await open();
  const next = { ...ASK, previous_response_id: "resp_1" };
  await client.ask(ASK);
  await client.ask({ ...ASK, input: "fail alone" });
  expect((await client.ask(next)).at(-1)).toMatchObject({ type: "response.completed" });
  await client.ask({ ...next, input: "fail" });
  const [refusal] = await client.ask(next);
  expect(refusal).toMatchObject({ type: "error", error: { code: "previous_response_not_found" } });
  expect((await client.ask(ASK)).at(-1)).toMatchObject({ type: "response.completed" });
});

test("messages that are on their way find room in the memory for bodies, and give it back", async () => {
  const bodies = new ByteBudget(1.5 * MIB);
  await start({ bodies });
  const partial = async (mib: number): Promise<RawClient> => {
    const client = await raw();
    client.socket.write(Buffer.concat([Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0])]));
    client.socket.write(Buffer.alloc(mib * MIB));
    return client;
  };
  const first = await partial(1);
  await until(() => bodies.used >= MIB, "the first is counted");
  const second = await partial(1);
  await until(() => second.closed, "the second has no room");
  first.socket.destroy();
  await until(() => bodies.used === 0, "the room is given back");
});

test("each message is measured with the status that it would have had", async () => {
  await start();
  it.channel.streamScript = (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: event(DONE), events: [FINISH] });
  };
  const client = await open();
  await client.ask(ASK);
  client.webSocket.send("no JSON");
  await client.answer();
  await until(() => it.samples.length === 3, "the samples");
  expect(it.samples.map(({ status }) => status)).toEqual([101, 200, 400]);
});

/** A client that made its handshake and says nothing by itself. */
async function raw(): Promise<RawClient> {
  const client = await RawClient.open(it.port);
  client.write(
    "GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-good\r\nconnection: Upgrade\r\n" +
      "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  await until(() => client.text.includes("101 Switching"), "the handshake");
  return client;
}
