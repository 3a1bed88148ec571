/** Responses over a WebSocket, with every family behind them: what is asked, answered, kept and charged. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ResponsesWS } from "openai/resources/responses/ws";
import { steer as steerClaude } from "../../support/fake-anthropic.js";
import { steer as steerGoogle } from "../../support/fake-gemini.js";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";
import { SocketClient, type SocketEvent, textOf } from "../../support/websocket-client.js";
import { checkGrammar } from "../../wire/openai-responses/reading.js";

/** The response as the last event tells it. */
function responseOf(events: readonly SocketEvent[]): { readonly id: string; readonly usage: SocketEvent } {
  return (events.at(-1) ?? {})["response"] as { id: string; usage: SocketEvent };
}

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const open = (secret = world.secret): Promise<SocketClient> => SocketClient.open(world.gateway.url, secret);

const MODELS = [
  {
    model: "fake-1",
    asks: script({ text: "Good day." }),
    calls: script({ calls: [{ name: "look", arguments: "{}" }] }),
  },
  {
    model: "native-1",
    asks: script({ text: "Good day." }),
    calls: script({ calls: [{ name: "look", arguments: "{}" }] }),
  },
  {
    model: "claude-sonnet-4-5",
    asks: steerClaude({ blocks: [{ type: "text", text: "Good day." }] }),
    calls: steerClaude({ blocks: [{ type: "tool_use", id: "toolu_1", name: "look", input: {} }] }),
  },
  {
    model: "gemini-3-flash",
    asks: steerGoogle({ parts: [{ text: "Good day." }] }),
    calls: steerGoogle({ parts: [{ functionCall: { name: "look", args: {} } }] }),
  },
];
const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];

/** The events as a stream over HTTP would have told them. */
function asStream(events: readonly SocketEvent[]): string {
  return events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

describe.each(MODELS)("over a WebSocket, $model", ({ model, asks, calls }) => {
  test("answers as its stream over HTTP does, one event a message", async () => {
    const client = await open();
    const events = await client.ask({ model, input: asks });
    expect(textOf(events)).toBe("Good day.");
    expect(checkGrammar(asStream(events))).toMatchObject({ status: "completed" });
    const overHttp = await (await world.post({ model, input: asks, stream: true })).text();
    const types = [...overHttp.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    expect(events.map(({ type }) => type)).toEqual(types);
    client.close();
  });

  test("goes on from the last response, which is told again to the upstream", async () => {
    const client = await open();
    const first = await client.ask({ model, input: calls, tools: TOOLS });
    const done = first.find(({ type }) => type === "response.output_item.done");
    const item = first
      .map((event) => event["item"] as SocketEvent | undefined)
      .findLast((told) => told?.["type"] === "function_call");
    expect(done).toBeDefined();
    const { id } = responseOf(first);
    const output = { type: "function_call_output", call_id: item?.["call_id"], output: "seen so far" };
    const asked = [output, { role: "user", content: asks }];
    const second = await client.ask({ model, previous_response_id: id, input: asked, tools: TOOLS });
    expect(textOf(second)).toBe("Good day.");
    const upstreams = [...world.openai.requests, ...world.claude.requests, ...world.google.requests];
    const { raw } = upstreams.findLast((request) => request.raw.includes("seen so far")) ?? { raw: "" };
    expect(raw.toString()).toContain("look");
    expect(raw.toString()).not.toContain("previous_response_id");
    client.close();
  });
});

test("the official client's WebSocket has its answer, and goes on", async () => {
  const socket = new ResponsesWS(world.client);
  const asked = { model: "fake-1", stream: true } as const;
  const texts: string[] = [];
  socket.send({ type: "response.create", ...asked, input: script({ text: "first" }) });
  for await (const event of socket) {
    if (event.type === "error") throw event.error;
    if (event.type !== "message") continue;
    const { message } = event;
    if (message.type === "response.output_text.done") texts.push(message.text);
    if (message.type !== "response.completed") continue;
    if (texts.length === 2) break;
    const { id } = message.response;
    socket.send({ type: "response.create", ...asked, previous_response_id: id, input: script({ text: "second" }) });
  }
  socket.close();
  expect(texts).toEqual(["first", "second"]);
});

test("a message that only prepares is answered without a model, and can be gone on from", async () => {
  const client = await open();
  const before = world.openai.requests.length;
  const told = "These are the instructions.";
  const warm = await client.ask({ model: "fake-1", generate: false, input: told, tools: TOOLS });
  expect(warm.map(({ type }) => type)).toEqual(["response.created", "response.in_progress", "response.completed"]);
  expect(world.openai.requests).toHaveLength(before);
  const { id, usage } = responseOf(warm);
  expect(usage).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  const next = await client.ask({ model: "fake-1", previous_response_id: id, input: [] });
  expect(next.at(-1)).toMatchObject({ type: "response.completed" });
  expect(JSON.stringify(world.openai.requests.at(-1)?.body)).toContain(told);
  const wrong = await client.ask({ model: "no-such", generate: false, input: "x" });
  expect(wrong).toMatchObject([{ type: "error", status: 404, error: { code: "model_not_found" } }]);
  client.close();
});

describe("a message that is refused", () => {
  const CASES: readonly { name: string; send: string; status: number; code: string; param?: string }[] = [
    { name: "no JSON", send: "hello", status: 400, code: "invalid_body" },
    { name: "no object", send: "[]", status: 400, code: "invalid_body" },
    { name: "no type", send: '{"model":"fake-1","input":"x"}', status: 400, code: "invalid_value", param: "type" },
    { name: "an unknown type", send: '{"type":"response.stop"}', status: 400, code: "invalid_value", param: "type" },
    {
      name: "no input",
      send: '{"type":"response.create","model":"fake-1"}',
      status: 400,
      code: "missing_required_parameter",
      param: "input",
    },
    {
      name: "an unknown model",
      send: '{"type":"response.create","model":"x","input":"x"}',
      status: 404,
      code: "model_not_found",
      param: "model",
    },
    {
      name: "another response to go on from",
      send: '{"type":"response.create","model":"fake-1","input":"x","previous_response_id":"resp_1"}',
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    },
    {
      name: "a lane of its own",
      send: '{"type":"response.create","model":"fake-1","input":"x","stream_id":"a"}',
      status: 400,
      code: "invalid_value",
      param: "stream_id",
    },
    {
      name: "an answer in the background",
      send: '{"type":"response.create","model":"fake-1","input":"x","background":true}',
      status: 400,
      code: "invalid_value",
      param: "background",
    },
  ];
  test.each(CASES)(
    "for $name is told with its status, and the next one is answered",
    async ({ send, status, code, param = null }) => {
      const client = await open();
      client.webSocket.send(send);
      const [event] = await client.answer();
      expect(event).toMatchObject({ type: "error", status, code, param, error: { code, param }, sequence_number: 0 });
      expect(textOf(await client.ask({ model: "fake-1", input: script({ text: "ok" }) }))).toBe("ok");
      client.close();
    },
  );

  test("for money tells 402, for a limit 429 with when to come back, and for an upstream 502", async () => {
    await world.management.account("poor", 10n);
    const poor = await world.management.makeKey("poor");
    const one = await open(poor.secret);
    expect(await one.ask({ model: "fake-1", input: "Hello there, you." })).toMatchObject([
      { status: 402, error: { code: "insufficient_balance" } },
    ]);
    const { secret } = await world.management.makeKey("acme", { requests_per_minute: 1 });
    const limited = await open(secret);
    await limited.ask({ model: "fake-1", input: "x" });
    const [event] = await limited.ask({ model: "fake-1", input: "x" });
    expect(event).toMatchObject({ status: 429, error: { code: "rate_limit_exceeded" } });
    expect(event).toMatchObject({ headers: { "retry-after": expect.stringMatching(/^\d+$/) } });
    const failed = await limited.ask({ model: "fake-1", input: "x" });
    expect(failed).toMatchObject([{ status: 429 }]);
    const client = await open();
    expect(await client.ask({ model: "fake-1", input: script({ status: 503, id: "gone" }) })).toMatchObject([
      { type: "error", error: { type: "server_error" } },
    ]);
    for (const socket of [one, limited, client]) socket.close();
  });
});

test("what is only told asks for nothing", async () => {
  const client = await open();
  client.webSocket.send('{"type":"response.processed","response_id":"resp_1"}');
  expect(textOf(await client.ask({ model: "fake-1", input: script({ text: "ok" }) }))).toBe("ok");
  expect(client.events[0]).toMatchObject({ type: "response.created" });
  client.close();
});

test("two messages at once are answered one after the other", async () => {
  const client = await open();
  for (const text of ["one", "two", "three"])
    client.create({ model: "fake-1", input: script({ text, eventDelayMs: 5 }) });
  expect([textOf(await client.answer()), textOf(await client.answer()), textOf(await client.answer())]).toEqual([
    "one",
    "two",
    "three",
  ]);
  client.close();
});

test("more messages than may wait are refused, and none is lost", async () => {
  const client = await open();
  for (let n = 0; n < 20; n++)
    client.create({ model: "fake-1", input: script({ text: `${n}`, headDelayMs: n === 0 ? 100 : 0 }) });
  await client.until(() => client.events.filter(({ type }) => type === "response.completed").length === 17);
  expect(client.events.filter(({ type }) => type === "error")).toHaveLength(3);
  client.close();
});

test("a failure in the middle is told as over HTTP, and the connection goes on", async () => {
  const client = await open();
  client.create({ model: "fake-1", input: script({ words: 20, cutAfter: 5 }) });
  await client.until(({ type }) => type === "response.failed");
  expect(client.events.some(({ type }) => type === "response.completed")).toBe(false);
  client.create({ model: "fake-1", input: script({ text: "ok" }) });
  await client.until(({ type }) => type === "response.completed");
  client.close();
});

test("a client that leaves ends the upstream's answer and pays for what came", async () => {
  await world.management.account("leaver", 100_000_000n);
  const { secret } = await world.management.makeKey("leaver");
  const client = await open(secret);
  client.create({ model: "fake-1", input: script({ words: 400, eventDelayMs: 20, id: "leaver" }) });
  await client.until(({ type }) => type === "response.output_text.delta");
  client.close();
  await world.openai.waitFor(({ raw, left }) => left && raw.includes("leaver"));
  const spent = async (): Promise<bigint> => (await world.management.balance("leaver")).spentNanos;
  await expect.poll(spent).toBeGreaterThan(0n);
  expect(await spent()).toBeLessThan(40_000n);
});

describe("the handshake", () => {
  test.each([
    { name: "without a key", secret: "", status: 401, code: "invalid_api_key" },
    { name: "with a wrong key", secret: "sk-no", status: 401, code: "invalid_api_key" },
  ])("$name is refused with its status", async ({ secret, status, code }) => {
    const refusal = await SocketClient.refused(world.gateway.url, secret);
    expect(refusal).toMatchObject({ status, error: { code } });
    expect(refusal.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("of a key without the scope, from elsewhere, frozen, or at its limit is refused with its status", async () => {
    const refused = async (settings: SocketEvent): Promise<object> => {
      const { secret } = await world.management.makeKey("acme", settings);
      return SocketClient.refused(world.gateway.url, secret);
    };
    expect(await refused({ scopes: ["models"] })).toMatchObject({ status: 403, error: { code: "scope_missing" } });
    expect(await refused({ addresses: ["10.9.8.0/24"] })).toMatchObject({
      status: 403,
      error: { code: "address_not_allowed" },
    });
    await world.management.account("cold", 100n);
    const { secret } = await world.management.makeKey("cold");
    await world.management.call("POST", "/accounts/cold:freeze", { reason: "a doubt" });
    expect(await SocketClient.refused(world.gateway.url, secret)).toMatchObject({
      status: 403,
      error: { code: "account_frozen" },
    });
    const limited = await world.management.makeKey("acme", { requests_per_minute: 1 });
    const client = await open(limited.secret);
    await client.ask({ model: "fake-1", input: "x" });
    const refusal = await SocketClient.refused(world.gateway.url, limited.secret);
    expect(refusal).toMatchObject({ status: 429, error: { code: "rate_limit_exceeded" } });
    expect(refusal.headers["retry-after"]).toMatch(/^\d+$/);
    client.close();
  });

  test.each([
    {
      name: "of another version",
      headers: "sec-websocket-version: 7\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
      has: "malformed",
    },
    { name: "without its own key", headers: "sec-websocket-version: 13", has: "malformed" },
  ])("$name is told what is wrong", async ({ headers, has }) => {
    const { port } = new URL(world.gateway.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.secret}\r\n` +
        `upgrade: websocket\r\nconnection: upgrade, close\r\n${headers}\r\n\r\n`,
    );
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain(has);
  });

  test("that is none is answered as an unknown path that names the right one", async () => {
    const answer = await fetch(`${world.gateway.url}/v1/responses`, {
      headers: { authorization: `Bearer ${world.secret}` },
    });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("POST /v1/responses");
  });
});

test("a request that would like HTTP/2 is answered as if it did not, body and all", async () => {
  const { port } = new URL(world.gateway.url);
  const socket = connect(Number(port), "127.0.0.1");
  const body = JSON.stringify({ model: "fake-1", input: script({ text: "in plain" }), padding: undefined });
  const request = (extra: string): string =>
    `POST /v1/responses HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.secret}\r\n` +
    `content-type: application/json\r\n${extra}content-length: ${body.length}\r\n\r\n`;
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString()));
  socket.write(
    request("connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAABAAMAAABkAAQ\r\n"),
  );
  socket.write(body);
  await expect.poll(() => text.match(/in plain/g)?.length).toBe(1);
  socket.write(request("") + body);
  await expect.poll(() => text.match(/in plain/g)?.length).toBe(2);
  expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  socket.destroy();
});

describe("the connection closes", () => {
  test("with 1003 on a binary message, and with 1007 on one that is no text", async () => {
    const binary = await open();
    binary.webSocket.send(Buffer.from([1, 2, 3]));
    expect(await binary.end()).toMatchObject({ code: 1003 });
    const broken = await open();
    broken.webSocket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await broken.end()).toMatchObject({ code: 1007 });
  });

  test("with 1009 on a message that is longer than one may be, and the longest is answered", async () => {
    const client = await open();
    const start = '{"type":"response.create","model":"no-such","input":"';
    client.webSocket.send(`${start}${"a".repeat(2_097_152 - start.length - 2)}"}`);
    expect(await client.answer()).toMatchObject([{ type: "error", status: 404 }]);
    client.webSocket.send("a".repeat(2_097_153));
    expect(await client.end()).toMatchObject({ code: 1009 });
  });

  test("with 1002 on what is no frame", async () => {
    const client = await open();
    const raw = client.webSocket as unknown as { _socket: { write(bytes: Buffer): void } };
    raw._socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]));
    expect(await client.end()).toMatchObject({ code: 1002 });
  });

  test.each([
    {
      name: "its key is revoked",
      act: (id: string) => world.management.call("DELETE", `/keys/${id}`),
      status: 401,
      code: "invalid_api_key",
    },
    {
      name: "its account is frozen",
      act: () => world.management.call("POST", "/accounts/ending-403:freeze", { reason: "a doubt" }),
      status: 403,
      code: "account_frozen",
    },
  ])("with 1008 when $name, after it told why", async ({ act, status, code }) => {
    const account = `ending-${status}`;
    await world.management.account(account, 100_000_000n);
    const { id, secret } = await world.management.makeKey(account);
    const client = await open(secret);
    await act(id);
    expect(await client.answer()).toMatchObject([{ type: "error", status, error: { code } }]);
    expect(await client.end()).toMatchObject({ code: 1008 });
  });

  test("in the middle of a response when its key is revoked, which is charged for what came", async () => {
    await world.management.account("cut", 100_000_000n);
    const { id, secret } = await world.management.makeKey("cut");
    const client = await open(secret);
    client.create({ model: "fake-1", input: script({ words: 400, eventDelayMs: 20 }) });
    await client.until(({ type }) => type === "response.output_text.delta");
    await world.management.call("DELETE", `/keys/${id}`);
    await client.until(({ type }) => type === "response.failed");
    expect(await client.end()).toMatchObject({ code: 1008 });
    const spent = async (): Promise<bigint> => (await world.management.balance("cut")).spentNanos;
    await expect.poll(spent).toBeGreaterThan(0n);
  });
});
