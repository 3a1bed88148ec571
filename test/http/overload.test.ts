/** Requests over HTTP where there is too much to do: they wait before anything is read, and are refused or begun. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Event, UsageSource } from "../../src/api/index.js";
import { anthropic } from "../../src/formats/anthropic.js";
import { gemini } from "../../src/formats/gemini.js";
import { openai } from "../../src/formats/openai.js";
import { FullQueue, OVERLOADED } from "../support/full-queue.js";
import { KEY, startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};

let queue: FullQueue;
let it: TestServer;
beforeEach(async () => {
  queue = new FullQueue();
  it = await startServer({
    queue,
    formats: [openai, anthropic, gemini],
    corsOrigins: ["https://app.example.com"],
  });
});
afterEach(() => it.close());

const post = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${it.url}${path}`, {
    method: "POST",
    headers: { ...KEY, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "m", messages: [] }),
  });

async function waiting(count: number): Promise<void> {
  await until(() => queue.waiting.length === count, "they wait");
}

describe("a request that found no room is refused in its format, with a time", () => {
  test.each([
    { path: "/v1/chat/completions", status: 503, says: { error: { code: "overloaded", param: null } } },
    { path: "/v1/messages", status: 529, says: { type: "error", error: { type: "overloaded_error" } } },
    { path: "/v1beta/models/m:generateContent?key=x", status: 503, says: { error: { code: 503 } } },
    { path: "/api/v1/keys", status: 503, says: { error: { code: "overloaded" } } },
    { path: "/nowhere", status: 503, says: { error: { code: "overloaded" } } },
  ])("$path", async ({ path, status, says }) => {
    const asking = post(path);
    await waiting(1);
    expect(it.channel.admissions).toEqual([]);
    queue.waiting[0]?.request.refuse(OVERLOADED);
    const response = await asking;
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "retry-after": "3",
      "retry-after-ms": "3000",
      "x-should-retry": "true",
      "x-tollgate-reason": "OVERLOADED",
      "x-request-id": expect.stringMatching(/^req_front_\d+$/),
      "content-type": "application/json; charset=utf-8",
    });
    expect(await response.json()).toMatchObject(says);
    expect([it.channel.admissions, it.channel.called]).toEqual([[], []]);
    await until(() => it.samples.length === 1, "it is counted");
    expect(it.samples).toEqual([{ route: "refused", status }]);
  });
});

test("each refusal has an id of its own, and the connection takes the next request", async () => {
  const client = await RawClient.open(it.port);
  for (const count of [1, 2]) {
    client.write(rawPost("/v1/messages", "{}"));
    await waiting(count);
    queue.waiting.at(-1)?.request.refuse(OVERLOADED);
    await until(() => client.text.split("HTTP/1.1 529").length === count + 1, "the refusal");
  }
  expect(client.text.match(/"request_id":"req_front_1"/g)).toHaveLength(1);
  expect(client.text.match(/"request_id":"req_front_2"/g)).toHaveLength(1);
  client.socket.destroy();
});

test("one that has its turn later is served as any other, with its body", async () => {
  it.channel.streamScript = (_request, sink) => {
    sink.head({ "tollgate-form": "whole" });
    sink.data({ source: Buffer.from("{}"), events: [FINISH] });
  };
  const asking = post("/v1/chat/completions");
  await waiting(1);
  queue.waiting[0]?.request.start();
  const response = await asking;
  expect([response.status, await response.text()]).toEqual([200, "{}"]);
});

test("a client that left while it waited is neither begun nor answered", async () => {
  const client = await RawClient.open(it.port);
  client.write(rawPost("/v1/chat/completions", "{}"));
  await waiting(1);
  const connections: number[] = [];
  client.socket.destroy();
  await until(() => {
    it.server.app.server.getConnections((_error, count) => connections.push(count));
    return connections.at(-1) === 0;
  }, "the connection is gone");
  queue.waiting[0]?.request.start();
  queue.waiting[0]?.request.refuse(OVERLOADED);
  expect([it.channel.admissions, it.samples]).toEqual([[], []]);
});

test("whose request it is, is told by its key, else by its session", async () => {
  const all = [post("/v1/messages"), post("/api/v1/keys", { authorization: "", cookie: "tollgate=x" })];
  await waiting(2);
  expect(queue.waiting.map(({ account }) => account).toSorted()).toEqual(["", KEY.authorization].toSorted());
  for (const { request } of queue.waiting) request.refuse(OVERLOADED);
  await Promise.all(all);
});

test.each(["/livez", "/readyz"])("%s does not wait", async (path) => {
  const response = await fetch(`${it.url}${path}`);
  expect([response.status, queue.waiting.length]).toEqual([200, 0]);
});

test("a page of another origin that may ask reads that it was refused", async () => {
  const asking = post("/v1/chat/completions", { origin: "https://app.example.com" });
  await waiting(1);
  queue.waiting[0]?.request.refuse(OVERLOADED);
  const response = await asking;
  expect(response.status).toBe(503);
  expect(response.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
  expect(response.headers.get("vary")).toBe("origin");
  // As that of any other, it goes past the framework and its records.
  expect([it.samples, it.refusals]).toEqual([[{ route: "refused", status: 503 }], []]);
});

test("a browser that asks before it sends is let on, so that its page reads the refusal", async () => {
  const asking = fetch(`${it.url}/v1/chat/completions`, {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });
  await waiting(1);
  queue.waiting[0]?.request.refuse(OVERLOADED);
  expect((await asking).status).toBe(204);
});

test("a body that is still on its way is let in for a while, so that its client reads the refusal", async () => {
  const client = await RawClient.open(it.port);
  client.write(rawPost("/v1/chat/completions", "", { "content-length": "100000" }));
  await waiting(1);
  queue.waiting[0]?.request.refuse(OVERLOADED);
  await until(() => client.text.includes("HTTP/1.1 503"), "the refusal");
  client.write("x".repeat(100_000));
  client.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => client.text.includes('{"status":"live"}'), "the next answer");
  client.socket.destroy();
});
