/** What is no proper request over HTTP is refused with a clear 4xx, and leaves no trace. */
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { expectEnvelope, type Trace, traceOf } from "../../support/envelope.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.management.verify();
  await world.close();
});

const trace = (): Promise<Trace> => traceOf(world);
let before: Trace;
beforeEach(async () => {
  before = await trace();
});

async function expectNoTrace(): Promise<void> {
  expect(await trace()).toEqual(before);
}

/** What is answered leaves its trace behind its answer. A free model's leaves none of leased money later on. */
async function expectAnswered(body: string): Promise<void> {
  const free = body.replace("fake-1", "other-1");
  expect((await postChat(world.front, world.secret, free)).status).toBe(200);
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
}

const good = JSON.stringify(chat("Hello"));
const having = (member: string): string => `${good.slice(0, -1)},${member}}`;
const nested = (levels: number, open = "[", close = "]"): string => open.repeat(levels) + close.repeat(levels);
const message = (text: string): string => `{"model":"fake-1","messages":[${text}]}`;

interface BadBody {
  readonly name: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 400. */
  readonly status?: number;
  /** The field that the refusal names; null where it is about no field. */
  readonly param?: string | null;
}

const BODIES: readonly BadBody[] = [
  { name: "an empty body", body: "", param: null },
  { name: "only blanks", body: " \r\n\t ", param: null },
  { name: "broken JSON", body: good.slice(0, -1), param: null },
  { name: "a bare word", body: "hello", param: null },
  { name: "trailing garbage", body: `${good}x`, param: null },
  { name: "two documents", body: good + good, param: null },
  { name: "a trailing comma", body: `${good.slice(0, -1)},}`, param: null },
  { name: "a comment", body: `/* hello */${good}`, param: null },
  { name: "single quotes", body: good.replaceAll('"', "'"), param: null },
  { name: "NaN", body: having('"temperature":NaN'), param: null },
  { name: "a leading zero", body: having('"seed":01'), param: null },
  { name: "an array", body: `[${good}]`, param: null },
  { name: "a string", body: JSON.stringify(good), param: null },
  { name: "null", body: "null", param: null },
  { name: "JSON 1,000 levels deep", body: having(`"x":${nested(1_000)}`), param: null },
  { name: "JSON 100,000 levels deep", body: having(`"x":${nested(100_000)}`), param: null },
  { name: "objects 1,000 levels deep", body: having(`"x":${nested(1_000, '{"a":', "}")}`), param: null },
  { name: "100,000 open brackets", body: "[".repeat(100_000), param: null },
  { name: "100,000 open brackets in a message", body: `{"messages":${"[".repeat(100_000)}`, param: null },
  { name: "a key __proto__", body: having('"__proto__":{"x":1}'), param: null },
  { name: "an escaped key __proto__", body: having(String.raw`"\u005f_proto__":{"x":1}`), param: null },
  { name: "a key __proto__ in a message", body: message('{"role":"user","content":"x","__proto__":{}}'), param: null },
  { name: "a key __proto__ in an unknown field", body: having('"x":[{"y":{"__proto__":[]}}]'), param: null },
  { name: "two models", body: having('"model":"other-1"'), param: null },
  { name: "two models, one escaped", body: having(String.raw`"m\u006fdel":"other-1"`), param: null },
  { name: "two lists of messages", body: having('"messages":[]'), param: null },
  { name: "invalid UTF-8 in a string", body: Buffer.from(having('"user":"\xff\xfe"'), "latin1"), param: null },
  { name: "an overlong slash", body: Buffer.from(having('"user":"\xc0\xaf"'), "latin1"), param: null },
  { name: "a half character", body: Buffer.from(having('"user":"\xe2\x82"'), "latin1"), param: null },
  { name: "UTF-16", body: Buffer.from(good, "utf16le"), param: null },
  { name: "a NUL byte in a string", body: having('"user":"a\0b"'), param: null },
  { name: "NUL bytes behind the body", body: `${good}\0\0`, param: null },
  { name: "a line break in a string", body: having('"user":"a\nb"'), param: null },
  { name: "compressed bytes", body: gzipSync(good), headers: { "content-encoding": "gzip" }, param: null },
  { name: "compressed bytes without a word", body: gzipSync(good), param: null },
  { name: "a false claim of brotli", body: good, headers: { "content-encoding": "br" }, param: null },
  { name: "a form", body: "model=fake-1", headers: { "content-type": "application/x-www-form-urlencoded" } },
  { name: "plain text", body: good, headers: { "content-type": "text/plain" } },
  { name: "a strange type", body: good, headers: { "content-type": "application/json-seq" } },
  { name: "no type that can be read", body: good, headers: { "content-type": ";;;" } },
  { name: "33 MiB", body: having(`"x":"${"x".repeat(33 * 1024 * 1024)}"`), status: 413, param: null },
  { name: "no model", body: '{"messages":[{"role":"user","content":"x"}]}', param: "model" },
  { name: "an empty model", body: good.replace("fake-1", ""), param: "model" },
  { name: "a model of 100,000 characters", body: good.replace("fake-1", "x".repeat(100_000)), param: "model" },
  { name: "a number as model", body: good.replace('"fake-1"', "1"), param: "model" },
  { name: "a model that is none", body: good.replace("fake-1", "x\\r\\nset-cookie: a=b"), status: 404, param: "model" },
  { name: "null as model", body: good.replace('"fake-1"', "null"), param: "model" },
  { name: "messages as text", body: '{"model":"fake-1","messages":"x"}', param: "messages" },
  { name: "no message", body: message(""), param: "messages" },
  { name: "a text as message", body: message('"x"'), param: "messages[0]" },
  { name: "a message without a role", body: message('{"content":"x"}'), param: "messages[0].role" },
  { name: "a number as role", body: message('{"role":1}'), param: "messages[0].role" },
  { name: "a number as content", body: message('{"role":"user","content":1}'), param: "messages[0].content" },
  { name: "a text as part", body: message('{"role":"user","content":["x"]}'), param: "messages[0].content[0]" },
  {
    name: "a part without a type",
    body: message('{"role":"user","content":[{}]}'),
    param: "messages[0].content[0].type",
  },
  ...[
    ["stream", '"yes"'],
    ["stream", "1"],
    ["n", "0"],
    ["n", "-1"],
    ["n", "1.5"],
    ["n", '"2"'],
    ["n", "1e9"],
    ["max_tokens", "0"],
    ["max_tokens", "-5"],
    ["max_tokens", "0.5"],
    ["max_tokens", "1e400"],
    ["max_tokens", "9007199254740993"],
    ["max_tokens", "99999999999999999999999999999999999999"],
    ["max_completion_tokens", '"100"'],
    ["temperature", '"hot"'],
    ["temperature", "-1e308"],
    ["temperature", "2.1"],
    ["top_p", "1.5"],
    ["presence_penalty", "[]"],
    ["seed", "1.5"],
    ["stop", "7"],
    ["stop", "[1]"],
    ["logprobs", "3"],
    ["top_logprobs", "21"],
    ["tools", "{}"],
    ["tools", "[1]"],
    ["tool_choice", "[]"],
    ["response_format", '"json"'],
    ["logit_bias", "[]"],
    ["metadata", '"x"'],
    ["user", "{}"],
    ["stream_options", '{"include_usage":true}'],
  ].map(([field, value]) => ({ name: `${field}: ${value}`, body: having(`"${field}":${value}`), param: field! })),
];

describe.each(BODIES)("$name", ({ body, headers, status = 400, param }) => {
  test(`is refused with ${status}, and leaves no trace`, async () => {
    const response = await fetch(`${world.front.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.secret}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : new Uint8Array(body),
    });
    const text = await response.text();
    expect(response.status, text.slice(0, 300)).toBe(status);
    const error = expectEnvelope(text);
    expect(error["type"]).toBe("invalid_request_error");
    if (param !== undefined) expect(error["param"]).toBe(param);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.headers.get("set-cookie")).toBeNull();
    await expectNoTrace();
  });
});

test("keys such as constructor and toString are fields like others, and go upstream untouched", async () => {
  const body = having('"constructor":{"prototype":{"polluted":true}},"toString":1,"hasOwnProperty":null');
  await expectAnswered(body);
  expect(world.upstream.requests.at(-1)?.raw.toString()).toContain('"constructor":{"prototype":{"polluted":true}}');
  // Nothing of the program itself was changed by it.
  expect((await world.management.call("GET", "/me")).body).not.toHaveProperty("polluted");
});

test("a byte order mark before a request is no part of it", async () => {
  await expectAnswered(`\ufeff${good}`);
});

test("a body of 33 MiB in chunks, whose length nobody announced, is refused with 413", async () => {
  const piece = new Uint8Array(1024 * 1024).fill(0x20);
  let pieces = 33;
  const body = new ReadableStream({
    pull: (controller) => (pieces-- > 0 ? controller.enqueue(piece) : controller.close()),
  });
  const headers = { authorization: `Bearer ${world.secret}`, "content-type": "application/json" };
  const init = { method: "POST", body, headers, duplex: "half" as const };
  const response = await fetch(`${world.front.url}/v1/chat/completions`, init);
  expect(response.status).toBe(413);
  expectEnvelope(await response.text());
  await expectNoTrace();
});

const port = (): number => Number(new URL(world.front.url).port);
const key = (): Record<string, string> => ({ authorization: `Bearer ${world.secret}` });
const rawHead = (lines: readonly string[], body = good): string =>
  ["POST /v1/chat/completions HTTP/1.1", "host: localhost", "content-type: application/json", ...lines, "", body].join(
    "\r\n",
  );
const length = (): string => `content-length: ${Buffer.byteLength(good)}`;
const bearer = (): string => `authorization: Bearer ${world.secret}`;
const hidden = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n";

/** Requests that are no proper HTTP. Each is built late, since it needs the key. */
const MALFORMED: readonly { readonly name: string; readonly request: () => string }[] = [
  { name: "a CR in a header", request: () => rawHead([bearer(), length(), "x-a: b\rset-cookie: c"]) },
  { name: "a LF in a header", request: () => rawHead([bearer(), length(), "x-a: b\nx-tollgate-clamp 1"]) },
  { name: "a NUL in a header", request: () => rawHead([bearer(), length(), "x-a: b\0c"]) },
  { name: "a blank before a colon", request: () => rawHead([bearer(), "content-length : 5"]) },
  { name: "a folded header", request: () => rawHead([bearer(), length(), " x-a: b"]).replace("host", " host") },
  { name: "two lengths", request: () => rawHead([bearer(), length(), "content-length: 5"]) },
  { name: "two equal lengths", request: () => rawHead([bearer(), length(), length()]) },
  { name: "a list of lengths", request: () => rawHead([bearer(), "content-length: 5, 5"]) },
  { name: "a negative length", request: () => rawHead([bearer(), "content-length: -5"]) },
  { name: "a length in words", request: () => rawHead([bearer(), "content-length: 1e3"]) },
  {
    name: "a length and chunks",
    request: () => rawHead([bearer(), length(), "transfer-encoding: chunked"], `0\r\n\r\n${hidden}`),
  },
  {
    name: "chunks and a length",
    request: () => rawHead([bearer(), "transfer-encoding: chunked", "content-length: 4"], `0\r\n\r\n${hidden}`),
  },
  { name: "a strange transfer coding", request: () => rawHead([bearer(), "transfer-encoding: xchunked"]) },
  { name: "chunks that are not last", request: () => rawHead([bearer(), "transfer-encoding: chunked, gzip"]) },
  { name: "a chunk of no size", request: () => rawHead([bearer(), "transfer-encoding: chunked"], "zz\r\nhello\r\n") },
  { name: "no host", request: () => rawHead([bearer(), length()]).replace("host: localhost\r\n", "") },
  { name: "headers of 100,000 bytes", request: () => rawHead([bearer(), length(), `x-a: ${"b".repeat(100_000)}`]) },
  { name: "no HTTP at all", request: () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello there\r\n\r\n" },
];

describe.each(MALFORMED)("$name", ({ request }) => {
  test("is refused with a 4xx, once, on a connection that closes, and leaves no trace", async () => {
    const client = await RawClient.open(port());
    client.write(request());
    await expect.poll(() => client.closed).toBe(true);
    expect(client.text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(client.text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(client.text.toLowerCase()).not.toContain("set-cookie");
    expectEnvelope(client.text.slice(client.text.indexOf("\r\n\r\n") + 4));
    await expectNoTrace();
  });
});

interface Leaving {
  readonly name: string;
  readonly request: () => string;
}

const CHUNKED = (): string => rawHead([bearer(), "transfer-encoding: chunked"], "");
const LEAVINGS: readonly Leaving[] = [
  { name: "in the middle of its headers", request: () => rawHead([bearer(), length()]).slice(0, 90) },
  { name: "right after its headers", request: () => rawHead([bearer(), length()], "") },
  { name: "in mid-body", request: () => rawPost("/v1/chat/completions", good, key()).slice(0, -10) },
  { name: "one byte before the end", request: () => rawPost("/v1/chat/completions", good, key()).slice(0, -1) },
  { name: "right after the headers of chunks", request: CHUNKED },
  { name: "in a chunk", request: () => `${CHUNKED()}ff\r\n${good}` },
  {
    name: "with all but the last chunk sent",
    request: () => `${CHUNKED()}${Buffer.byteLength(good).toString(16)}\r\n${good}\r\n`,
  },
];

describe.each(LEAVINGS)("a client that leaves $name", ({ request }) => {
  test.each(["ends", "resets"])("leaves no trace where it %s the connection", async (how) => {
    const client = await RawClient.open(port());
    client.write(request());
    // The gateway has read it once it answers what came later on another connection.
    expect((await fetch(`${world.front.url}/livez`)).status).toBe(200);
    if (how === "ends") client.socket.end();
    else client.socket.resetAndDestroy();
    await expect.poll(() => client.closed).toBe(true);
    expect(client.text).not.toMatch(/^HTTP\/1\.1 [235]/);
    await expectNoTrace();
  });
});
