/** The order of checks: who asks comes before what is wrong with the request. Real sockets, real parsing. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Event, StreamGenerateRequest, UsageSource } from "../../src/api/index.js";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const BODY_BYTES_MAX = 4 * 1_048_576;

let it: TestServer;
beforeAll(async () => {
  it = await startServer({ bodyBytesMax: BODY_BYTES_MAX });
  it.channel.streamScript = (_request, sink) => {
    sink.head({ "tollgate-form": "whole" });
    sink.data({ source: Buffer.from("{}"), events: [FINISH] });
  };
});
beforeEach(() => {
  it.channel.calls.length = 0;
  it.channel.admissions.length = 0;
  it.channel.lacks.clear();
});
afterAll(() => it.close());

interface Asked {
  readonly status: number;
  readonly code: string;
  readonly why: string;
}

/** Posts to the toy's route, and reads its envelope. */
async function post(headers: Record<string, string>, body: RequestInit["body"]): Promise<Asked> {
  const init: RequestInit = { method: "POST", headers, body: body ?? null, duplex: "half" };
  const response = await fetch(`${it.url}/toy/red/say`, init);
  const { broken = "", why = "" } = JSON.parse(await response.text());
  expect(response.headers.get("x-request-id")).toMatch(/./);
  return { status: response.status, code: broken, why };
}

const JSON_TYPE = { "content-type": "application/json" };
const PROBLEMS = [
  { name: "a body that is too large", headers: JSON_TYPE, body: Buffer.alloc(BODY_BYTES_MAX + 1, " "), status: 413 },
  {
    name: "a compressed body",
    headers: { ...JSON_TYPE, "content-encoding": "gzip" },
    body: gzipSync("toy-1 hello"),
    status: 400,
  },
  { name: "a body of another type", headers: { "content-type": "text/plain" }, body: "toy-1 hello", status: 400 },
  {
    name: "a form",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "model=toy-1",
    status: 400,
  },
];

test.each(PROBLEMS)("$name: no key is told first", async ({ headers, body }) => {
  expect(await post(headers, body)).toMatchObject({ status: 401, code: "invalid_api_key" });
});

test.each(PROBLEMS)("$name: a key without the scope is told first", async ({ headers, body }) => {
  it.channel.lacks.add("chat");
  const asked = await post({ ...headers, authorization: "Bearer sk-good" }, body);
  expect(asked).toMatchObject({ status: 403, code: "scope_missing" });
});

test.each(PROBLEMS)("$name: a good key is told what is wrong", async ({ headers, body, status }) => {
  const asked = await post({ ...headers, authorization: "Bearer sk-good" }, body);
  expect(asked.status).toBe(status);
  expect(asked.why).toMatch(/uncompressed|application\/json|larger than 4194304 bytes/);
  expect(it.channel.admissions).toHaveLength(1);
  expect(it.channel.called).toEqual([]);
});

test.each([
  { name: "no content type", type: undefined },
  { name: "a charset", type: "application/json; charset=utf-8" },
  { name: "capitals", type: "Application/JSON" },
  { name: "a parameter cut short", type: "application/json; charset" },
])("JSON with $name is read", async ({ type }) => {
  const client = await RawClient.open(it.port);
  const head = `host: x\r\nx-api-key: sk-good\r\ncontent-length: 11\r\nconnection: close\r\n`;
  client.write(
    `POST /toy/red/say HTTP/1.1\r\n${head}${type === undefined ? "" : `content-type: ${type}\r\n`}\r\ntoy-1 hello`,
  );
  await until(() => client.closed, "the answer");
  expect(client.text).toContain("HTTP/1.1 200");
  const { generation } = StreamGenerateRequest.decode(it.channel.calls[0]?.bytes ?? Buffer.alloc(0));
  expect(generation?.input).toMatchObject({ value: { body: Buffer.from("toy-1 hello") } });
});

test.each([
  { name: "a long body", headers: { "content-length": "2000000" } },
  { name: "a short body", headers: { "content-length": "11" } },
  { name: "a body of unknown length", headers: { "transfer-encoding": "chunked" } },
])("$name of a stranger is refused before any of it is read", async ({ headers }) => {
  const client = await RawClient.open(it.port);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(`POST /toy/red/say HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${lines.join("")}\r\n`);
  await until(() => client.text.includes("\r\n\r\n"), "the refusal");
  expect(client.text).toContain("HTTP/1.1 401");
  expect(it.channel.admissions).toHaveLength(1);
  expect(it.channel.called).toEqual([]);
  client.socket.destroy();
});

test("a long body of a known caller is read whole", async () => {
  const body = `toy-1 ${"x".repeat(2_000_000)}`;
  const asked = await post({ ...JSON_TYPE, authorization: "Bearer sk-good" }, body);
  expect(asked.status).toBe(200);
  expect(it.channel.admissions).toHaveLength(1);
  expect(it.channel.called).toEqual(["StreamGenerate"]);
});

test("a body of unknown length is bounded all the same", async () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let count = 0; count < 5; count++) yield Buffer.alloc(1_048_576, " ");
  }
  const asked = await post({ ...JSON_TYPE, authorization: "Bearer sk-good" }, ReadableStream.from(chunks()));
  expect(asked).toMatchObject({ status: 413, code: "request_too_large" });
});

test("a path that cannot be decoded is refused after the key", async () => {
  const bad = `${it.url}/v1/models/%zz`;
  expect((await fetch(bad)).status).toBe(401);
  const response = await fetch(bad, { headers: { authorization: "Bearer sk-good" } });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: "path", code: "invalid_value" } });
  expect((await fetch(`${it.url}/nowhere/%zz`)).status).toBe(404);
});

test("a key that could not be metadata is refused by the service, not by the transport", async () => {
  const client = await RawClient.open(it.port);
  client.write(rawPost("/toy/red/say", "toy-1 hello", { authorization: "Bearer sk-\xfc\xe9" }));
  await until(() => client.text.includes("401"), "the refusal");
  expect(it.channel.admissions[0]?.["authorization"]).toBe("Bearer sk-??");
  client.socket.destroy();
});

test.each([
  { name: "no HTTP at all", bytes: "hello\r\n\r\n", status: 400 },
  {
    name: "two lengths of one body",
    bytes:
      "POST /toy/red/say HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    status: 400,
  },
  { name: "a header with a NUL", bytes: "GET / HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n\r\n", status: 400 },
  { name: "two hosts", bytes: "GET / HTTP/1.1\r\nhost: x\r\nHOST: y\r\n\r\n", status: 400 },
  { name: "a host that comes twice", bytes: "GET / HTTP/1.0\r\nhost: x\r\nhost: x\r\n\r\n", status: 400 },
  { name: "no host", bytes: "GET / HTTP/1.1\r\n\r\n", status: 400 },
  {
    name: "headers without end",
    bytes: `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${"a".repeat(20_000)}\r\n\r\n`,
    status: 431,
  },
])("$name is refused and the connection closed", async ({ bytes, status }) => {
  const client = await RawClient.open(it.port);
  client.write(bytes);
  await until(() => client.closed, "the connection closes");
  expect(client.text.split("\r\n")[0]).toContain(`HTTP/1.1 ${status}`);
  expect(client.text.split("HTTP/1.1 ")).toHaveLength(2);
});
