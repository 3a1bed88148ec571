/** Streams on real sockets: one write a batch, heartbeats, readers that are slow, stuck or gone. */
import { afterEach, expect, test } from "vitest";
import { type Event, UsageSource } from "../../src/api/index.js";
import type { HttpServerOptions } from "../../src/http/server.js";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { allowTimeToFail } from "../support/pauses.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const STREAM = { "tollgate-form": "stream", "x-request-id": "req_1" };
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const ASK = rawPost("/toy/red/say", "toy-1 hello");

let it: TestServer | undefined;
let client: RawClient | undefined;
afterEach(async () => {
  client?.socket.destroy();
  await it?.close();
});

async function start(options: Partial<HttpServerOptions> = {}): Promise<TestServer> {
  it = await startServer(options);
  return it;
}

async function connect(server: TestServer): Promise<RawClient> {
  client = await RawClient.open(server.port);
  return client;
}

test("the head leaves with the first batch, and each batch is one read", async () => {
  const server = await start();
  const go: (() => void)[] = [];
  const turn = (): Promise<void> => new Promise((resolve) => go.push(resolve));
  server.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    await turn();
    sink.data({ source: Buffer.from("data: a\n\ndata: b\n\n") });
    await turn();
    sink.data({ source: Buffer.from("data: c\n\n"), events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK);
  await until(() => go.length === 1, "the call runs");
  expect(reader.reads).toEqual([]);
  go[0]?.();
  await until(() => reader.reads.length > 0, "the first batch");
  expect(reader.text).toContain("HTTP/1.1 200 OK");
  expect(reader.text).toContain("data: a\n\ndata: b\n\n");
  await until(() => go.length === 2, "the second turn");
  go[1]?.();
  await until(() => reader.text.includes("THE END"), "the end");
  expect(reader.reads).toHaveLength(2);
  expect(reader.reads[1]?.endsWith("data: c\n\ndata: THE END\n\n\r\n0\r\n\r\n")).toBe(true);
});

test("an idle stream is kept alive, but not before its first batch", async () => {
  const server = await start({ heartbeatMs: 20 });
  let go = (): void => undefined;
  let held = false;
  server.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    await allowTimeToFail(60);
    held = client?.reads.length === 0;
    sink.data({ source: Buffer.from("data: a\n\n") });
    await new Promise<void>((resolve) => (go = resolve));
    sink.data({ events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK);
  await until(() => reader.text.split(": tick\n\n").length > 3, "three heartbeats");
  expect(held).toBe(true);
  go();
  await until(() => reader.text.includes("0\r\n\r\n"), "the end");
  expect(reader.text.lastIndexOf(": tick")).toBeLessThan(reader.text.indexOf("THE END"));
});

test.each([
  { bytes: 65_536, wanted: 400 },
  { bytes: 1_000, wanted: 26_000 },
])("a slow reader of $bytes bytes a batch stops the far end until it caught up", async ({ bytes, wanted }) => {
  const server = await start();
  const batch = Buffer.from(`data: ${"x".repeat(bytes)}\n\n`);
  let sent = 0;
  let paused = 0;
  server.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    let resume = (): void => undefined;
    sink.onDrain(() => resume());
    while (sent < wanted) {
      sent++;
      if (sink.data({ source: batch })) continue;
      paused++;
      await new Promise<void>((resolve) => (resume = resolve));
    }
    sink.data({ events: [FINISH] });
  };
  const reader = await connect(server);
  reader.socket.pause();
  reader.write(ASK);
  await until(() => paused > 0, "the far end pauses");
  // Nothing is read, so what was sent stands at what the sockets hold.
  let before = -1;
  while (before !== sent) {
    before = sent;
    await allowTimeToFail(50);
  }
  expect(sent).toBeLessThan(wanted);
  reader.socket.resume();
  await until(() => reader.reads.at(-1)?.endsWith("THE END\n\n\r\n0\r\n\r\n") === true, "the end");
  expect(sent).toBe(wanted);
  expect(reader.text.split("data: x")).toHaveLength(wanted + 1);
});

test("a reader that takes nothing at all is cut, and its call ends", async () => {
  const server = await start({ heartbeatMs: 20, blockedMsMax: 40 });
  let ended = false;
  server.channel.streamScript = async (_request, sink, { signal }) => {
    signal.addEventListener("abort", () => (ended = true));
    let resume = (): void => undefined;
    sink.onDrain(() => resume());
    sink.head(STREAM);
    const batch = Buffer.alloc(1_048_576, "x");
    while (!signal.aborted) {
      if (sink.data({ source: batch })) continue;
      await new Promise<void>((resolve) => {
        resume = resolve;
        signal.addEventListener("abort", () => resolve());
      });
    }
  };
  const reader = await connect(server);
  reader.socket.pause();
  reader.write(ASK);
  await until(() => ended, "the call is aborted");
  await until(() => server.samples.length === 1, "the request is measured");
  expect(server.samples[0]).toEqual({ route: "/toy/:box/say", status: 499 });
});

test.each([
  { when: "before the first batch", batches: 0, head: STREAM },
  { when: "in the middle of a stream", batches: 2, head: STREAM },
  { when: "before a whole answer", batches: 1, head: { "tollgate-form": "whole" } },
])("a client that leaves $when ends the call", async ({ batches, head }) => {
  const server = await start();
  let ready = false;
  let aborted = false;
  server.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(head);
    for (let count = 0; count < batches; count++) sink.data({ source: Buffer.from("data: a\n\n") });
    ready = true;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted = true;
    // What still comes meets a closed connection, and must harm nobody.
    sink.data({ source: Buffer.from("data: late\n\n") });
    sink.data({ events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK);
  await until(() => ready, "the call runs");
  expect(aborted).toBe(false);
  reader.socket.destroy();
  await until(() => aborted, "the call is aborted");
  await until(() => server.samples.length === 1, "the request is measured");
  expect(server.samples[0]?.status).toBe(499);
});

test("a client of HTTP/1.0 gets the bytes alone", async () => {
  const server = await start();
  server.channel.streamScript = (_request, sink) => {
    sink.head(STREAM);
    for (const letter of "abc") sink.data({ source: Buffer.from(`data: ${letter}\n\n`) });
    sink.data({ events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK.replace("HTTP/1.1", "HTTP/1.0"));
  await until(() => reader.text.includes("THE END"), "the end");
  expect(reader.text.split("\r\n\r\n")[1]).toBe("data: a\n\ndata: b\n\ndata: c\n\ndata: THE END\n\n");
});

test("a stream that waits for its turn on the connection comes behind the one before", async () => {
  const server = await start();
  const ends: (() => void)[] = [];
  server.channel.streamScript = async (_request, sink) => {
    const name = ends.length === 0 ? "first" : "second";
    sink.head(STREAM);
    for (const part of [1, 2, 3]) sink.data({ source: Buffer.from(`data: ${name} ${part}\n\n`) });
    await new Promise<void>((resolve) => ends.push(resolve));
    sink.data({ source: Buffer.from(`data: ${name} 4\n\n`) });
    sink.data({ events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK + ASK);
  await until(() => ends.length === 2, "both run");
  ends[1]?.();
  ends[0]?.();
  await until(() => reader.text.split("THE END").length === 3, "both ends");
  const told = [...reader.text.matchAll(/data: (.*)\n/g)].map(([, data]) => data);
  const whole = (name: string): string[] => [1, 2, 3, 4].map((part) => `${name} ${part}`);
  expect(told).toEqual([...whole("first"), "THE END", ...whole("second"), "THE END"]);
});

test("a connection serves the next request after a stream", async () => {
  const server = await start();
  server.channel.streamScript = (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n"), events: [FINISH] });
  };
  const reader = await connect(server);
  reader.write(ASK);
  await until(() => reader.text.includes("0\r\n\r\n"), "the first end");
  reader.write(ASK);
  await until(() => reader.text.split("0\r\n\r\n").length === 3, "the second end");
  expect(server.samples.map((sample) => sample.status)).toEqual([200, 200]);
});
