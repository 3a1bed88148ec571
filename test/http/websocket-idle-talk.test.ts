/** Messages over a WebSocket that ask nothing of a model are counted as calls of any other kind are. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Event, UsageSource } from "../../src/api/index.js";
import { CALLS_PACE } from "../../src/base/event-loop/pace.js";
import { openaiResponses } from "../../src/formats/openai-responses.js";
import { startServer, type TestServer } from "../support/http-server.js";
import { SocketClient } from "../support/websocket-client.js";

const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const DONE = { type: "response.completed", sequence_number: 1, response: { id: "resp_1", output: [] } };
const PROCESSED = JSON.stringify({ type: "response.processed" });
const REFUSED = JSON.stringify({ type: "nothing" });
const ASK = JSON.stringify({ type: "response.create", model: "toy-1", input: "hello" });
const LIMITED = { type: "error", status: 429, error: { code: "rate_limit_exceeded" } };
/** Far more than one key may send. */
const MANY = 10 * CALLS_PACE.burst;
/** Fewer than may wait. */
const GROUP = 10;

let it: TestServer;
let nowMs = 0;
const clients: SocketClient[] = [];
beforeEach(async () => {
  nowMs = 0;
  it = await startServer({ formats: [openaiResponses], nowMs: () => nowMs });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await it.close();
});

async function open(): Promise<SocketClient> {
  const client = await SocketClient.open(it.url, "sk-good");
  clients.push(client);
  return client;
}

/** Sends so many, a few at once, until the connection ends. */
async function send(client: SocketClient, message: string, most: number): Promise<void> {
  const { webSocket } = client;
  const closed = new Promise<void>((resolve) => webSocket.once("close", () => resolve()));
  for (let sent = 0; sent < most && client.closed === undefined; sent += GROUP) {
    for (let place = 0; place < GROUP; place += 1) webSocket.send(message);
    webSocket.ping();
    await Promise.race([closed, new Promise<void>((resolve) => webSocket.once("pong", () => resolve()))]);
  }
}

test.each([
  { name: "that only tell something", message: PROCESSED, answers: 0 },
  { name: "that are refused", message: REFUSED, answers: CALLS_PACE.burst },
])("beyond a pace messages $name are refused once, and then end the connection", async ({ message, answers }) => {
  const client = await open();
  await send(client, message, MANY);
  expect(await client.end()).toEqual({ code: 1008, reason: "rate_limit_exceeded" });
  expect(client.events).toHaveLength(answers + 2);
  for (const event of client.events.slice(answers)) expect(event).toMatchObject(LIMITED);
});

test("the pace is the key's on all of its connections, comes back with the time, and is no other key's", async () => {
  await send(await open(), PROCESSED, CALLS_PACE.burst);
  const second = await open();
  second.webSocket.send(REFUSED);
  expect((await second.answer()).at(-1)).toMatchObject(LIMITED);
  nowMs += 1_000;
  second.webSocket.send(REFUSED);
  expect((await second.answer()).at(-1)).toMatchObject({ status: 400 });
  await send(await open(), PROCESSED, CALLS_PACE.perSecond);
  it.channel.holder = "another";
  const another = await open();
  another.webSocket.send(REFUSED);
  expect((await another.answer()).at(-1)).toMatchObject({ status: 400 });
});

test("messages that find no room to wait are counted", async () => {
  it.channel.streamScript = (_request, _sink, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const client = await open();
  await send(client, ASK, MANY);
  const limited = client.events.filter(({ error }) => JSON.stringify(error).includes("messages a minute"));
  expect(limited.length).toBeGreaterThan(0);
  // What waits and runs is answered first; no more is read.
  expect(client.events.length).toBeLessThan(CALLS_PACE.burst + 10);
});

test("messages that ask a model are counted by the limits of requests alone", async () => {
  it.channel.streamScript = (_request, sink) => {
    sink.head({ "tollgate-form": "stream", "x-request-id": "req_1" });
    sink.data({ source: Buffer.from(`data: ${JSON.stringify(DONE)}\n\n`), events: [FINISH] });
  };
  const client = await open();
  const asked = CALLS_PACE.burst + 2 * GROUP;
  for (let sent = 0; sent < asked; sent += GROUP) {
    for (let place = 0; place < GROUP; place += 1) client.webSocket.send(ASK);
    for (let place = 0; place < GROUP; place += 1)
      expect((await client.answer()).at(-1)).toMatchObject({ type: DONE.type });
  }
  client.webSocket.send(REFUSED);
  expect((await client.answer()).at(-1)).toMatchObject({ status: 400 });
});
