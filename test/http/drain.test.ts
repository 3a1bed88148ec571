/** How the front end stops: what runs may finish, what does not is told why, and nothing hangs. */
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { type Event, UsageSource } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { sendWhileBlocked } from "../support/waiting-crowd.js";
import { startServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const STREAM = { "tollgate-form": "stream", "x-request-id": "req_1" };
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const ASK = rawPost("/toy/red/say", "toy-1 hello");
/** How many connections wait to be accepted as a port closes. */
const CROWD = 50;

test("a stream that ends in time ends well, and idle connections do not hold the server", async () => {
  const it = await startServer();
  let finish = (): void => undefined;
  it.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    await new Promise<void>((resolve) => (finish = resolve));
    sink.data({ events: [FINISH] });
  };
  // Clients open connections in advance; one that never had a request must not hold the server either.
  const silent = await RawClient.open(it.port);
  const idle = await RawClient.open(it.port);
  idle.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => idle.text.includes("live"), "the idle connection was used");
  const busy = await RawClient.open(it.port);
  busy.write(ASK);
  await until(() => busy.text.includes("data: a"), "the stream runs");

  const drained = it.server.drain(60_000);
  await until(() => idle.closed && silent.closed, "the idle connections close");
  await expect(RawClient.open(it.port)).rejects.toThrow("ECONNREFUSED");
  expect(busy.closed).toBe(false);
  finish();
  await drained;
  // The server is done once the kernel has it; the client reads it a turn later.
  await until(() => busy.text.includes("THE END"), "the end of the stream");
});

test("a stream that does not end in time is told to, and says so", async () => {
  const it = await startServer();
  let aborted = false;
  it.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    aborted = true;
    throw new GatewayError("ERROR_REASON_CANCELLED");
  };
  const busy = await RawClient.open(it.port);
  busy.write(ASK);
  await until(() => busy.text.includes("data: a"), "the stream runs");
  await it.server.drain(20);
  expect(aborted).toBe(true);
  await until(() => busy.closed, "the connection closes");
  expect(busy.text).toContain("data: BROKEN overloaded");
  expect(busy.text).not.toContain("THE END");
});

test("a server that will stop ends each connection with its answer, and takes new ones", async () => {
  const it = await startServer();
  it.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    sink.data({ events: [FINISH] });
  };
  const clients = [ASK, "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n", "GET /none HTTP/1.1\r\nhost: x\r\n\r\n"];
  const ask = async (asked: string, client: RawClient): Promise<string> => {
    client.write(asked);
    await until(() => client.closed, "the server closes it");
    return client.text;
  };
  const before = await Promise.all(clients.map(() => RawClient.open(it.port)));
  it.server.leave();
  const after = await Promise.all(clients.map(() => RawClient.open(it.port)));
  for (const opened of [before, after]) {
    const texts = await Promise.all(clients.map((asked, place) => ask(asked, opened[place] as RawClient)));
    expect(texts.map((text) => text.split(" ")[1])).toEqual(["200", "200", "404"]);
    expect(texts[0]).toContain("THE END");
    for (const text of texts) expect(text.toLowerCase().match(/^connection: .*$/gm)).toEqual(["connection: close"]);
  }
  await it.close();
});

test("what is on its way as the port closes is served, and nobody is let in any more", async () => {
  const it = await startServer();
  it.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    sink.data({ events: [FINISH] });
  };
  // Opened for a request that has not come yet, as a balancer does.
  const late = await RawClient.open(it.port);
  const arrived: Socket[] = [];
  it.server.app.server.on("connection", (socket: Socket) => arrived.push(socket));
  const probe = await RawClient.open(it.port);
  await until(() => arrived.length === 1, "both arrived");
  it.server.leave();
  const open = await it.server.closePort();
  await expect(RawClient.open(it.port)).rejects.toThrow("ECONNREFUSED");
  expect([open.size, open.receiving]).toEqual([2, 0]);
  late.write(ASK.slice(0, 20));
  await until(() => open.receiving === 1, "a part of the request is there");
  late.write(ASK.slice(20));
  await until(() => late.closed, "it is served");
  expect(late.text).toContain("HTTP/1.1 200");
  expect(late.text).toContain("THE END");
  await until(() => open.size === 1, "its connection ends");
  await it.server.drain(60_000);
  await until(() => probe.closed, "the other one ends");
});

test("what the kernel accepted before the port closes is answered, and so is a kept connection", async () => {
  const it = await startServer();
  it.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    sink.data({ events: [FINISH] });
  };
  const kept = await RawClient.open(it.port);
  kept.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => kept.text.includes("live"), "the kept connection was used");
  it.server.leave();
  const crowd = sendWhileBlocked({ port: it.port, count: CROWD, text: ASK });
  kept.write(ASK);
  await it.server.closePort();
  const answers = await crowd.answers();
  expect(answers.filter((text) => text.startsWith("HTTP/1.1 200") && text.includes("THE END"))).toHaveLength(CROWD);
  await until(() => kept.text.includes("THE END"), "the kept connection is answered");
  await it.server.drain(60_000);
});

test("a request over an open connection is answered while the server stops, and closes it", async () => {
  const it = await startServer();
  let release = (): void => undefined;
  it.channel.streamScript = async (_request, sink) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    if (it.channel.calls.length === 1) await new Promise<void>((resolve) => (release = resolve));
    sink.data({ events: [FINISH] });
  };
  const arrived: Socket[] = [];
  it.server.app.server.on("connection", (socket: Socket) => arrived.push(socket));
  const busy = await RawClient.open(it.port);
  busy.write(ASK);
  await until(() => busy.text.includes("data: a"), "the stream runs");
  const late = await RawClient.open(it.port);
  // Half a request, whose end arrives while the server stops; and a connection whose request comes only then.
  late.write(ASK.slice(0, 20));
  const unused = await RawClient.open(it.port);
  const probe = await RawClient.open(it.port);
  probe.write("GET /readyz HTTP/1.1\r\n");
  await until(() => arrived.filter((socket) => socket.bytesRead > 0).length === 3, "both halves arrived");
  const drained = it.server.drain(60_000);
  await until(() => !it.server.app.server.listening, "the port closes");
  late.write(ASK.slice(20));
  unused.write(ASK);
  probe.write("host: x\r\n\r\n");
  await until(() => late.closed && unused.closed && probe.closed, "the answers");
  for (const { text } of [late, unused]) {
    expect(text).toContain("HTTP/1.1 200");
    expect(text).toContain("THE END");
    expect(text.toLowerCase()).toContain("connection: close");
  }
  expect(probe.text).toContain("HTTP/1.1 503");
  expect(probe.text).toContain('{"status":"stopping"}');
  release();
  await drained;
  // The server is done once the kernel has it; the client reads it a turn later.
  await until(() => busy.text.includes("THE END"), "the end of the stream");
});

test("a request is refused once the time to stop is over", async () => {
  const it = await startServer();
  it.channel.streamScript = async (_request, sink, { signal }) => {
    sink.head(STREAM);
    sink.data({ source: Buffer.from("data: a\n\n") });
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    isTold = true;
    await gone;
    throw new GatewayError("ERROR_REASON_CANCELLED");
  };
  let isTold = false;
  let leave = (): void => undefined;
  const gone = new Promise<void>((resolve) => (leave = resolve));
  const busy = await RawClient.open(it.port);
  busy.write(ASK);
  await until(() => busy.text.includes("data: a"), "the stream runs");
  const late = await RawClient.open(it.port);
  late.write(ASK.slice(0, 20));
  const drained = it.server.drain(20);
  await until(() => isTold, "the stream is told to end");
  late.write(ASK.slice(20));
  await until(() => late.closed, "the refusal");
  expect(late.text).toContain("HTTP/1.1 529");
  expect(late.text).toContain('"broken":"overloaded"');
  leave();
  await drained;
});
