/** Requests that come slowly, in numbers, or with too many bytes: none is waited for, or holds memory, for long. */
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ByteBudget } from "../../src/base/bytes/byte-budget.js";
import { type Event, UsageSource } from "../../src/api/index.js";
import { makeCertificate } from "../support/certificate.js";
import { KEY, startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";
import { stall } from "../support/stall.js";

const MIB = 1024 * 1024;
/** A little more than a body must bring in a second. */
const RATE_BYTES = 17 * 1024;
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};

let it: TestServer | undefined;
afterEach(() => it?.close());

test.each([
  { name: "nothing", bytes: "" },
  { name: "headers without end", bytes: "POST /toy/red/say HTTP/1.1\r\nhost: x\r\n" },
  { name: "no TLS where that is spoken", bytes: "", tls: makeCertificate("localhost") },
])("a connection that sends $name is cut", async ({ bytes, tls }) => {
  it = await startServer({ slowMs: 100, tls });
  const client = await RawClient.open(it.port);
  client.write(bytes);
  await until(() => client.closed, "the cut");
  expect(client.text).toMatch(/^(?:HTTP\/1.1 408 |$)/);
});

describe("by a clock of the test's own", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    { name: "stops", drip: "" },
    { name: "comes byte by byte", drip: "x" },
  ])("a body that $name is cut with 408, and the service never hears of it", async ({ drip }) => {
    it = await startServer();
    const client = await RawClient.open(it.port);
    client.write(rawPost("/toy/red/say", "", { "content-length": "100000" }));
    await until(() => it?.channel.admissions.length === 1, "the headers are read");
    const passSecond = (): void => {
      client.write(drip);
      vi.advanceTimersByTime(1_000);
    };
    await until(() => (passSecond(), client.closed), "the cut");
    expect(client.text).toContain("HTTP/1.1 408");
    expect(client.text).toContain("it did not arrive in time");
    expect(it.channel.called).toEqual([]);
  });

  test("a body that comes at the least rate is waited for", async () => {
    it = await startServer();
    it.channel.streamScript = (_request, sink) => {
      sink.head({ "tollgate-form": "whole" });
      sink.data({ source: Buffer.from("{}"), events: [FINISH] });
    };
    const sockets: Socket[] = [];
    it.server.app.server.on("connection", (socket: Socket) => sockets.push(socket));
    const client = await RawClient.open(it.port);
    const seconds = 60;
    client.write(rawPost("/toy/red/say", "", { "content-length": String(6 + seconds * RATE_BYTES) }) + "toy-1 ");
    for (let second = 1; second <= seconds; second++) {
      client.write("x".repeat(RATE_BYTES));
      await until(() => (sockets[0]?.bytesRead ?? 0) > second * RATE_BYTES, "the server has read it");
      vi.advanceTimersByTime(1_000);
    }
    await until(() => client.text.includes("\r\n\r\n"), "the answer");
    expect(client.text).toContain("HTTP/1.1 200");
    client.socket.destroy();
  });

  test.each([
    { name: "no key", headers: { authorization: "" }, status: 401 },
    { name: "an unknown key", headers: { authorization: "Bearer sk-bad" }, status: 401 },
    {
      name: "an unknown key that is looked up",
      headers: { authorization: "Bearer sk-bad" },
      status: 401,
      isLookedUp: true,
    },
  ])(
    "with $name the answer comes before the body, and the connection goes",
    async ({ headers, status, isLookedUp }) => {
      it = await startServer();
      it.channel.looksUp = isLookedUp === true;
      const client = await RawClient.open(it.port);
      client.write(rawPost("/toy/red/say", "", { ...headers, "content-length": "30" }));
      await until(() => client.text.includes("\r\n\r\n"), "the refusal");
      expect(client.text).toContain(`HTTP/1.1 ${status}`);
      await until(() => (vi.advanceTimersByTime(1_000), client.closed), "the cut");
    },
  );

  test("headers and a body may stand still for 15 s by default", async () => {
    it = await startServer();
    const silent = await RawClient.open(it.port);
    silent.write("POST /toy/red/say HTTP/1.1\r\nhost: x\r\n");
    const client = await RawClient.open(it.port);
    client.write(rawPost("/toy/red/say", "", { "content-length": "100000" }));
    await until(() => it?.channel.admissions.length === 1, "the headers are read");
    // The first look sees it, and begins to count.
    vi.advanceTimersByTime(1_000);
    vi.advanceTimersByTime(14_000);
    const live = await fetch(`${it.url}/livez`);
    expect([live.status, client.text, silent.text]).toEqual([200, "", ""]);
    vi.advanceTimersByTime(1_000);
    await until(() => client.closed && silent.closed, "the cuts");
    expect([client.text, silent.text]).toEqual([1, 2].map(() => expect.stringContaining("HTTP/1.1 408")));
  });
});

describe("while the process is held up", () => {
  /** As long as headers and a body may take, six times over. */
  const HELD_MS = 3_000;
  const SLOW_MS = 500;
  // The sweep runs when the test says so: behind the stall before anything is read, as timers do.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    { name: "a body", first: rawPost("/toy/red/say", "", { "content-length": "11" }), rest: "toy-1 hello" },
    { name: "a head", first: "GET /livez HTTP/1.1\r\n", rest: "host: x\r\n\r\n" },
    { name: "a request", first: "", rest: "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n" },
  ])("$name that lies in the socket is read, and not cut", async ({ first, rest }) => {
    it = await startServer({ slowMs: SLOW_MS });
    it.channel.streamScript = (_request, sink) => {
      sink.head({ "tollgate-form": "whole" });
      sink.data({ source: Buffer.from("{}"), events: [FINISH] });
    };
    const sockets: Socket[] = [];
    it.server.app.server.on("connection", (socket: Socket) => sockets.push(socket));
    const client = await RawClient.open(it.port);
    client.write(first);
    await until(() => sockets[0]?.bytesRead === first.length, "the beginning is read");
    vi.advanceTimersByTime(SLOW_MS);
    client.write(rest);
    stall(HELD_MS);
    vi.advanceTimersByTime(SLOW_MS);
    await until(() => client.text.includes("\r\n\r\n"), "the answer");
    expect(client.text).toContain("HTTP/1.1 200");
    client.socket.destroy();
  });

  test("the next request on a kept connection is answered, although its time to come is over", async () => {
    it = await startServer();
    it.server.app.server.keepAliveTimeout = 1_000;
    const client = await RawClient.open(it.port);
    const ask = "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n";
    client.write(ask);
    await until(() => client.text.includes("live"), "the first answer");
    client.write(ask);
    stall(HELD_MS);
    await until(() => client.text.split("HTTP/1.1 200").length === 3 || client.closed, "the second answer");
    expect(client.text.split("HTTP/1.1 200")).toHaveLength(3);
    client.socket.destroy();
  });
});

test.each([
  { name: "announced", headers: { "content-length": String(30 * MIB) }, body: "" },
  { name: "of unknown length", headers: { "transfer-encoding": "chunked" }, body: "x".repeat(MIB) },
])("bodies $name that find no room are refused with 429 and a time, and the room comes back", async (sent) => {
  const bodies = new ByteBudget(64 * MIB);
  it = await startServer({ bodies });
  bodies.take("key", 48 * MIB - 1024);
  const client = await RawClient.open(it.port);
  const { "content-length": _none, ...rest } = { "content-length": "", ...sent.headers };
  const head = rawPost("/toy/red/say", "", sent.headers);
  client.write("transfer-encoding" in rest ? head.replace(/content-length: 0\r\n/, "") : head);
  if (sent.body !== "") client.write(`${sent.body.length.toString(16)}\r\n${sent.body}\r\n`);
  await until(() => client.text.includes("\r\n\r\n"), "the refusal");
  expect(client.text).toContain("HTTP/1.1 429");
  expect(client.text).toContain("retry-after: 1");
  client.socket.destroy();
  await until(() => bodies.used === 48 * MIB - 1024, "the room is back");
  expect(it.channel.called).toEqual([]);
});

test("a body gives its room back when its request has its answer, and not before", async () => {
  const bodies = new ByteBudget(64 * MIB);
  it = await startServer({ bodies });
  let used = 0;
  it.channel.streamScript = (_request, sink) => {
    used = bodies.used;
    sink.head({ "tollgate-form": "whole" });
    sink.data({ source: Buffer.from("{}"), events: [FINISH] });
  };
  const headers = { ...KEY, "content-type": "application/json" };
  const response = await fetch(`${it.url}/toy/red/say`, { method: "POST", headers, body: "toy-1 hello" });
  await response.text();
  expect(used).toBe(11);
  await until(() => bodies.used === 0, "the room is back");
});

test("of one address only so many connections are taken, unless it is a proxy's", async () => {
  it = await startServer({ connectionsPerAddressMax: 2 });
  const clients = await Promise.all([1, 2, 3].map(() => RawClient.open(it?.port ?? 0)));
  await until(() => clients.filter(({ closed }) => closed).length === 1, "one is closed");
  for (const { socket } of clients) socket.destroy();
  await it.close();
  it = await startServer({ connectionsPerAddressMax: 2, isProxy: (address) => address === "127.0.0.1" });
  const more = await Promise.all([1, 2, 3].map(() => RawClient.open(it?.port ?? 0)));
  for (const client of more) client.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => more.every(({ text }) => text.includes("live")), "all are answered");
});

test("in all only so many connections are taken", async () => {
  it = await startServer({ connectionsMax: 2, connectionsPerAddressMax: 100 });
  const clients = await Promise.all([1, 2, 3, 4].map(() => RawClient.open(it?.port ?? 0)));
  await until(() => clients.filter(({ closed }) => closed).length === 2, "two are closed");
  for (const client of clients) if (!client.closed) client.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => clients.filter(({ text }) => text.includes("live")).length === 2, "two are answered");
  for (const { socket } of clients) socket.destroy();
});

test("a client's address is the proxies' word where they are trusted, and the socket's elsewhere", async () => {
  const headers = { ...KEY, "x-forwarded-for": "203.0.113.9" };
  it = await startServer();
  await fetch(`${it.url}/v1/models`, { headers });
  expect(it.channel.calls[0]?.metadata["x-tollgate-client-address"]).toBe("127.0.0.1");
  await it.close();
  it = await startServer({ clientAddressOf: (_peer, forwardedFor) => forwardedFor ?? "" });
  await fetch(`${it.url}/v1/models`, { headers });
  expect(it.channel.calls[0]?.metadata["x-tollgate-client-address"]).toBe("203.0.113.9");
});
