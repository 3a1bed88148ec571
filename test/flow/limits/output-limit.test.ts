/** An upstream that never stops is stopped near the limit of output, and its client's answer ends as at the limit. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as bodyText } from "node:stream/consumers";
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clientOf, type DynamicStream, type Json } from "../../support/dynamic-client.js";
import { AWS_REGION, messagesOf } from "../../support/fake-bedrock.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { SocketClient, textOf } from "../../support/websocket-client.js";

const LIMIT_TOKENS = 100;
const WORDS = " and so it goes on and on and on and on";
/** What an upstream that writes on until it is left writes at once, in events. */
const BURST_EVENTS = 500;
// What may be relayed of it: a tenth and 64 tokens more than the limit, a kilobyte of text, and some events around it.
const RELAYED_WORDS_MAX = 1_000;

/** The events of one wire that begin an answer, and the one that is told for ever. */
interface Endless {
  readonly path: RegExp;
  readonly start: readonly (string | Buffer)[];
  readonly more: string | Buffer;
}

const named = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const chunk = (object: string, choice: object): string => {
  const choices = [{ index: 0, ...choice, finish_reason: null }];
  return `data: ${JSON.stringify({ id: "endless-1", object, created: 1_700_000_000, model: "m", choices })}\n\n`;
};
const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
const usage = { input_tokens: 10, output_tokens: 1 };
const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
const place = { item_id: "msg_1", output_index: 0, content_index: 0 };

// The first says who speaks, the second a piece of the text.
const [converseStart, converseMore] = messagesOf({ content: [{ text: WORDS }] });

const ENDLESS: readonly Endless[] = [
  { path: /\/converse-stream$/, start: [converseStart ?? ""], more: converseMore ?? "" },
  {
    path: /\/chat\/completions$/,
    start: [chunk("chat.completion.chunk", { delta: { role: "assistant", content: "" } })],
    more: chunk("chat.completion.chunk", { delta: { content: WORDS } }),
  },
  { path: /\/completions$/, start: [], more: chunk("text_completion", { text: WORDS, logprobs: null }) },
  {
    path: /\/messages$/,
    start: [
      named("message_start", { message: { ...message, usage } }),
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ],
    more: named("content_block_delta", { index: 0, delta: { type: "text_delta", text: WORDS } }),
  },
  {
    path: /:streamGenerateContent/,
    start: [],
    more: `data: ${JSON.stringify({
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: WORDS }] } }],
      modelVersion: "m",
      responseId: "r1",
    })}\n\n`,
  },
  {
    path: /\/responses$/,
    start: [
      named("response.created", { response: { id: "resp_1", object: "response", model: "m", output: [] } }),
      named("response.output_item.added", { output_index: 0, item }),
      named("response.content_part.added", { ...place, part: { type: "output_text", text: "", annotations: [] } }),
    ],
    more: named("response.output_text.delta", { ...place, delta: WORDS }),
  },
];

interface Client {
  readonly name: string;
  readonly path: (model: string) => string;
  readonly body: (model: string) => object;
  /** How its stream ends at the limit. */
  readonly end: RegExp;
  /** How a whole answer says that it ended at the limit. */
  readonly wholeEnd: RegExp;
  /** How often a stream tells its text. */
  readonly tellings: number;
}

/** A word of the text that nothing else holds. */
const wordsIn = (answer: string): number => answer.split(" and").length - 1;

const messages = [{ role: "user", content: "Begin." }];
const CLIENTS: readonly Client[] = [
  {
    name: "chat completions",
    path: () => "/v1/chat/completions",
    body: (model) => ({ model, messages, max_tokens: LIMIT_TOKENS, stream: true }),
    end: /"finish_reason":"length"[^]*data: \[DONE\]\s*$/,
    wholeEnd: /"finish_reason":\s*"length"/,
    tellings: 1,
  },
  {
    name: "completions",
    path: () => "/v1/completions",
    body: (model) => ({ model, prompt: "Begin.", max_tokens: LIMIT_TOKENS, stream: true }),
    end: /"finish_reason":"length"[^]*data: \[DONE\]\s*$/,
    wholeEnd: /"finish_reason":\s*"length"/,
    tellings: 1,
  },
  {
    name: "messages",
    path: () => "/v1/messages",
    body: (model) => ({ model, messages, max_tokens: LIMIT_TOKENS, stream: true }),
    end: /content_block_stop[^]*"stop_reason":"max_tokens"[^]*message_stop[^]{0,40}$/,
    wholeEnd: /"stop_reason":\s*"max_tokens"/,
    tellings: 1,
  },
  {
    name: "generateContent",
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: () => ({
      contents: [{ role: "user", parts: [{ text: "Begin." }] }],
      generationConfig: { maxOutputTokens: LIMIT_TOKENS },
    }),
    end: /"finishReason":\s*"MAX_TOKENS"/,
    wholeEnd: /"finishReason":\s*"MAX_TOKENS"/,
    tellings: 1,
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    body: (model) => ({ model, input: "Begin.", max_output_tokens: LIMIT_TOKENS, stream: true }),
    end: /event: response\.incomplete\ndata: [^\n]*"max_output_tokens"[^\n]*\n\n$/,
    wholeEnd: /"status":\s*"incomplete"/,
    tellings: 4,
  },
];

/** Models that only stream: their whole answers are gathered. */
const GATHERED = ["chat-1", "claude-sonnet-4-5", "gemini-2.5-flash", "native-1", "bedrock-1"].map(
  (model) => `${model}-gathered`,
);
const MODELS = ["chat-1", "text-1", "claude-sonnet-4-5", "gemini-2.5-flash", "native-1", "bedrock-1"];

const LONG_WORDS = 2_000;
const LONG_TEXT = WORDS.repeat(Math.ceil(LONG_WORDS / 11));

/** Whole answers that are longer than they may be, as each wire tells them. */
function wholeAnswer(url: string): object {
  if (url.endsWith("/converse"))
    return {
      output: { message: { role: "assistant", content: [{ text: LONG_TEXT }] } },
      stopReason: "end_turn",
      usage: { inputTokens: 10, outputTokens: LONG_WORDS, totalTokens: 10 + LONG_WORDS },
    };
  const content = [{ type: "text", text: LONG_TEXT }];
  if (url.endsWith("/messages"))
    return { ...message, content, stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: LONG_WORDS } };
  const choice = { index: 0, message: { role: "assistant", content: LONG_TEXT }, finish_reason: "stop" };
  return { id: "x", object: "chat.completion", model: "m", choices: [choice] };
}

let server: Server;
let left = 0;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

async function tellForEver(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const closed = new Promise<void>((resolve) => response.on("close", resolve));
  const body = JSON.parse(await bodyText(request)) as { readonly stream?: boolean };
  const url = request.url ?? "";
  if (body.stream !== true && !/stream/i.test(url)) {
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify(wholeAnswer(url)));
  }
  const endless = ENDLESS.find(({ path }) => path.test(url));
  const type = url.endsWith("/converse-stream") ? "application/vnd.amazon.eventstream" : "text/event-stream";
  response.writeHead(200, { "content-type": type });
  for (const event of endless?.start ?? []) response.write(event);
  if (url.startsWith("/burst/")) response.write(chunk("chat.completion.chunk", { delta: { content: LONG_TEXT } }));
  const more = Buffer.concat(Array.from({ length: BURST_EVENTS }, () => Buffer.from(endless?.more ?? "")));
  while (!response.destroyed) {
    const drained = response.write(more)
      ? new Promise((resolve) => setImmediate(resolve))
      : new Promise((resolve) => response.once("drain", () => resolve(undefined)));
    await Promise.race([closed, drained]);
  }
  left += 1;
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void tellForEver(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = 'context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" }';
  const settings = [
    "upstreams:",
    `  compatible: { family: openai-compatible, base_url: "${url}" }`,
    `  burst: { family: openai-compatible, base_url: "${url}/burst" }`,
    `  native: { family: openai, base_url: "${url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  claude: { family: anthropic, base_url: "${url}", api_key: "sk-ant-upstream-secret" }`,
    `  google: { family: gemini, base_url: "${url}", api_key: "AIza-upstream-secret" }`,
    `  aws: { family: bedrock, base_url: "${url}", api_key: "AKIDOFTHISTEST:secret/of+this/test0123456789abcdef" }`,
    "models:",
    `  bedrock-1: { targets: [{ upstream: aws, model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0" }], ${limits} }`,
    `  burst-1: { targets: [{ upstream: burst }], ${limits} }`,
    `  chat-1: { targets: [{ upstream: compatible }], ${limits} }`,
    `  text-1: { targets: [{ upstream: compatible }], kind: completion, ${limits} }`,
    `  claude-sonnet-4-5: { targets: [{ upstream: claude }], ${limits} }`,
    `  gemini-2.5-flash: { targets: [{ upstream: google }], ${limits} }`,
    `  native-1: { targets: [{ upstream: native }], ${limits} }`,
    ...["compatible", "claude", "google", "native", "aws"].map(
      (upstream, place) =>
        `  ${GATHERED[place]}: { targets: [{ upstream: ${upstream} }], facts: { stream_only: true }, ${limits} }`,
    ),
    "",
  ].join("\n");
  gateway = await startGateway({ settings, env: { AWS_REGION } });
  gateway.expectOddAnswers();
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const CASES = CLIENTS.flatMap((client) =>
  MODELS.filter((model) => (model === "text-1") <= (client.name === "completions")).map((model) => ({ client, model })),
);

test.each(CASES)("a stream of $client.name on $model ends as at the limit", async ({ client, model }) => {
  const leftBefore = left;
  const response = await fetch(gateway.url + client.path(model), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(client.body(model)),
  });
  const answer = await response.text();
  expect(response.status, answer).toBe(200);
  expect(wordsIn(answer)).toBeLessThan(RELAYED_WORDS_MAX * client.tellings);
  expect(client.end.test(answer), answer.slice(-500)).toBe(true);
  await expect.poll(() => left).toBe(leftBefore + 1);
  const id = String(response.headers.get("x-request-id"));
  const record = await recordOf(id);
  expect(record["usage"]).toMatchObject({ output_tokens: String(LIMIT_TOKENS) });
  expect(Number(record["cost_nanos"])).toBeLessThanOrEqual(Number(record["hold_nanos"]));
});

/** What was written of a request that is over. */
async function recordOf(id: string): Promise<Readonly<Record<string, unknown>>> {
  const read = async (): Promise<Readonly<Record<string, unknown>>> =>
    Object((await management.call("GET", `/requests/${id}`)).body["request"]);
  await expect.poll(async () => (await read())["state"]).toBe("settled");
  return read();
}

/** One stream over another way in than a POST: its text, its last event, and its request's id. */
interface Streamed {
  readonly text: string;
  readonly end: unknown;
  readonly id: string;
}

/** As a service calls it that knows the .proto files alone. */
async function overGrpc(model: string): Promise<Streamed> {
  const client = clientOf("tollgate.v1.InferenceService", gateway.grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const prompt = { messages: [{ role: "ROLE_USER", parts: [{ text: { text: "Begin." } }] }] };
  const open: (request: object, metadata: Metadata) => DynamicStream = Reflect.get(client, "StreamGenerate");
  const call = open.call(client, { generation: { model, prompt, output_tokens_max: LIMIT_TOKENS } }, metadata);
  const events: Json[] = [];
  let id = "";
  call.on("metadata", (head) => (id = String(head.get("x-request-id")[0])));
  call.on("data", (message) => events.push(...(message["events"] as Json[])));
  await new Promise<void>((resolve, reject) => call.on("error", reject).on("end", resolve));
  client.close();
  const text = events.map((event) => String(Object(event["text"])["text"] ?? "")).join("");
  return { text, end: events.slice(-2).map((event) => event["candidate_end"] ?? event["kind"]), id };
}

async function overWebSocket(model: string): Promise<Streamed> {
  const client = await SocketClient.open(gateway.url, secret);
  const events = await client.ask({ model, input: "Begin.", max_output_tokens: LIMIT_TOKENS });
  client.close();
  // Nothing over a WebSocket tells the id of one response's request. The one before was of another model.
  const newest = async (): Promise<Json> => {
    const { body } = await management.call("GET", "/requests?account_id=acme&state=settled&page_size=1");
    return Object((body["requests"] as readonly unknown[])[0]);
  };
  await expect.poll(async () => (await newest())["model"]).toBe(model);
  return { text: textOf(events), end: events.at(-1), id: String((await newest())["id"]) };
}

const WAYS = [
  { way: "the typed form over gRPC", ask: overGrpc, end: [{ reason: "FINISH_REASON_LENGTH" }, "finish"] },
  {
    way: "responses over a WebSocket",
    ask: overWebSocket,
    end: { type: "response.incomplete", response: { incomplete_details: { reason: "max_output_tokens" } } },
  },
];
const CHATS = MODELS.filter((model) => model !== "text-1");
test.each(WAYS.flatMap(({ way, ask, end }) => CHATS.map((model) => ({ way, ask, end, model }))))(
  "a stream of $way on $model ends as at the limit",
  async ({ ask, model, end }) => {
    const leftBefore = left;
    const answer = await ask(model);
    expect(wordsIn(answer.text)).toBeGreaterThan(LIMIT_TOKENS / 4);
    expect(wordsIn(answer.text)).toBeLessThan(RELAYED_WORDS_MAX);
    expect(answer.end).toMatchObject(end);
    await expect.poll(() => left).toBe(leftBefore + 1);
    const record = await recordOf(answer.id);
    expect(record["usage"]).toMatchObject({ output_tokens: String(LIMIT_TOKENS) });
    expect(Number(record["cost_nanos"])).toBeLessThanOrEqual(Number(record["hold_nanos"]));
  },
);

const WHOLE = CLIENTS.filter(({ name }) => name !== "completions");
test.each(WHOLE.flatMap((client) => GATHERED.map((model) => ({ client, model }))))(
  "a whole answer of $client.name that is gathered from $model ends as at the limit",
  async ({ client, model }) => {
    const leftBefore = left;
    const path = client.path(model).replace(":streamGenerateContent?alt=sse", ":generateContent");
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({ ...client.body(model), ...("stream" in client.body(model) ? { stream: false } : {}) }),
    });
    const answer = await response.text();
    expect(response.status, answer).toBe(200);
    expect(wordsIn(answer)).toBeGreaterThan(LIMIT_TOKENS / 4);
    expect(wordsIn(answer)).toBeLessThan(RELAYED_WORDS_MAX);
    expect(answer).toMatch(client.wholeEnd);
    await expect.poll(() => left).toBe(leftBefore + 1);
    const id = String(response.headers.get("x-request-id"));
    const { body } = await management.call("GET", `/requests/${id}`);
    const record = Object(body["request"]) as Readonly<Record<string, unknown>>;
    expect(record["usage"]).toMatchObject({ output_tokens: String(LIMIT_TOKENS) });
    expect(Number(record["cost_nanos"])).toBeLessThanOrEqual(Number(record["hold_nanos"]));
  },
);

test("one event past the limit is passed on whole, ends its stream, and is charged the limit", async () => {
  const leftBefore = left;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: "burst-1", messages, max_tokens: LIMIT_TOKENS, stream: true }),
  });
  const answer = await response.text();
  expect(response.status, answer).toBe(200);
  expect(answer).toContain(LONG_TEXT.trim());
  // What followed was not.
  expect(wordsIn(answer)).toBeLessThan(wordsIn(LONG_TEXT) + RELAYED_WORDS_MAX);
  expect(answer).toMatch(/"finish_reason":"length"[^]*data: \[DONE\]\s*$/);
  await expect.poll(() => left, { timeout: 60_000 }).toBe(leftBefore + 1);
  const id = String(response.headers.get("x-request-id"));
  expect((await recordOf(id))["usage"]).toMatchObject({ output_tokens: String(LIMIT_TOKENS) });
});

test.each(["chat-1", "claude-sonnet-4-5", "bedrock-1"])(
  "a whole answer of %s past the limit is passed on, and charged no more than its hold",
  async (model) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model, messages, max_tokens: LIMIT_TOKENS }),
    });
    const answer = await response.text();
    expect(response.status, answer).toBe(200);
    expect(answer).toContain(LONG_TEXT.trim());
    const id = String(response.headers.get("x-request-id"));
    const { body } = await management.call("GET", `/requests/${id}`);
    const record = Object(body["request"]) as Readonly<Record<string, unknown>>;
    expect(record["usage"]).toMatchObject({ output_tokens: String(LIMIT_TOKENS) });
    expect(Number(record["cost_nanos"])).toBeLessThanOrEqual(Number(record["hold_nanos"]));
  },
);

test("nobody but the account pays for it, and the books are right", async () => {
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toMatch(/^tollgate_overage_usd_total 0$/m);
  expect(metrics).toMatch(/doubt="above_limit"/);
  expect(await management.verify()).toMatchObject({ open_hold_count: "0" });
});
