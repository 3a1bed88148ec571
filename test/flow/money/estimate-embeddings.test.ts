/** Estimates of vectors and of completions tell what the request itself then meets: its hold, or its refusal. */
import { credentials } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type FakeVectors, startFakeVectors } from "../../support/fake-vectors.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { embedOverGrpc } from "../../support/grpc-refusal.js";
import { Management } from "../../support/management.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";

type Json = Readonly<Record<string, unknown>>;

const SECRET = "a root secret of this test, long enough";
/** Nano-USD for a token of input, and for each request. */
const INPUT_NANOS = 10n;
const REQUEST_NANOS = 7n;
const OUTPUT_NANOS = 100n;

function settings(vectorsUrl: string, chatUrl: string): string {
  const vectors = 'price: { input: "0.01", output: "0", request: "0.000000007" }';
  const texts = 'output_tokens_max: 100, price: { input: "0.01", output: "0.1" }';
  const model = (upstream: string, more: string): string => `{ targets: [{ upstream: ${upstream} }], ${more} }`;
  return [
    "upstreams:",
    `  vectors: { family: openai, base_url: "${vectorsUrl}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  google: { family: gemini, base_url: "${vectorsUrl}", api_key: "AIza-upstream-secret-of-this-test" }`,
    `  claude: { family: anthropic, base_url: "${vectorsUrl}", api_key: "sk-ant-upstream-secret" }`,
    `  chats: { family: openai-compatible, base_url: "${chatUrl}" }`,
    "models:",
    `  text-embedding-3-small: ${model("vectors", `kind: embedding, context_tokens: 100, ${vectors}`)}`,
    `  unmarked-1: ${model("vectors", `context_tokens: 100, output_tokens_max: 10, ${vectors}`)}`,
    `  gemini-embedding-001: ${model("google", `context_tokens: 2000, ${vectors}`)}`,
    `  mixed-1: { targets: [{ upstream: claude }, { upstream: vectors, priority: 2 }], output_tokens_max: 10, ${vectors} }`,
    `  chat-1: ${model("chats", `kind: chat, context_tokens: 1000, ${texts}`)}`,
    `  base-1: ${model("chats", `kind: completion, context_tokens: 1000, ${texts}`)}`,
    "",
  ].join("\n");
}

let fake: FakeVectors;
let chats: FakeUpstream;
let core: GatewayProcess;
let management: Management;
let client: InferenceServiceClient;

beforeAll(async () => {
  fake = await startFakeVectors();
  chats = await startFakeUpstream();
  core = await startGateway({ settings: settings(fake.url, chats.url), env: { TOLLGATE_SECRET: SECRET } });
  management = new Management(core);
  client = new InferenceServiceClient(core.grpc, credentials.createInsecure());
});
afterEach(() => {
  fake.requests.length = 0;
});
afterAll(async () => {
  client.close();
  await core.stop();
  await fake.close();
  await chats.close();
});

let accounts = 0;
async function openAccount(creditNanos: bigint, keySettings: Json = {}): Promise<{ id: string; secret: string }> {
  const id = `asker-${++accounts}`;
  await management.account(id, creditNanos);
  return { id, secret: (await management.makeKey(id, keySettings)).secret };
}

function post(path: string, body: unknown, secret: string, url = core.url): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function estimate(path: string, body: unknown, secret: string, url = core.url): Promise<Json> {
  const response = await post(`/api/v1/estimate${path}`, body, secret, url);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Json;
}

/** The account's one request. */
async function requestOf(accountId: string): Promise<Json> {
  const { body } = await management.call("GET", `/requests?account_id=${accountId}`);
  const requests = body["requests"] as Json[];
  expect(requests).toHaveLength(1);
  return requests[0]!;
}

const MANY = Array.from({ length: 10 }, () => "x".repeat(90));

describe.each(SWEPT_TOPOLOGIES)("a request for vectors, %s", (topology) => {
  let front: GatewayProcess;
  beforeAll(async () => {
    const apart = { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET };
    front = topology === "one process" ? core : await startGateway({ env: apart });
  });
  afterAll(async () => {
    if (front !== core) await front.stop();
  });

  test.each([
    { name: "a text", model: "text-embedding-3-small", input: "hello", tokens: 1n, source: "TOKENIZER" },
    { name: "texts", model: "text-embedding-3-small", input: ["hello", "hello"], tokens: 3n, source: "TOKENIZER" },
    { name: "tokens", model: "text-embedding-3-small", input: [[1, 2], [3]], tokens: 3n, source: "TOKENIZER" },
    { name: "many texts", model: "text-embedding-3-small", input: MANY, tokens: undefined, source: "TOKENIZER" },
    { name: "a model of no declared kind", model: "unmarked-1", input: "hello", tokens: 1n, source: "ESTIMATE" },
    { name: "Google", model: "gemini-embedding-001", input: "hello", tokens: undefined, source: "ESTIMATE" },
  ])("of $name is held for as estimated", async ({ model, input, tokens, source }) => {
    const { id, secret } = await openAccount(1_000_000_000n);
    const body = { model, input };
    const told = await estimate("/v1/embeddings", body, secret, front.url);
    // Nobody was asked anything for it.
    expect(fake.requests).toHaveLength(0);
    expect(told).toMatchObject({
      model,
      admitted: true,
      output_tokens_max: "0",
      expected_output_tokens: "0",
      input_source: source.toLowerCase(),
      hold_nanos: told["most_cost_nanos"],
    });
    if (tokens !== undefined) expect(told["input_tokens"]).toBe(String(tokens));
    const counted = BigInt(String(told["input_tokens"])) * INPUT_NANOS + REQUEST_NANOS;
    expect(told).toMatchObject({ least_cost_nanos: String(counted), expected_cost_nanos: String(counted) });
    expect(counted <= BigInt(String(told["most_cost_nanos"]))).toBe(true);

    const answer = await post("/v1/embeddings", body, secret, front.url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-tollgate-upstream")).toBe(told["upstream"]);
    expect((await requestOf(id))["hold_nanos"]).toBe(told["most_cost_nanos"]);
  });
});

test("vectors are estimated along the targets that make them", async () => {
  const { id, secret } = await openAccount(1_000_000_000n, { scopes: ["operator"] });
  const body = { model: "mixed-1", input: "hello" };
  const told = await estimate("/v1/embeddings", body, secret);
  expect(told).toMatchObject({ upstream: "vectors", route: [{ upstream: "vectors", priority: 2 }] });
  const answer = await post("/v1/embeddings", body, secret);
  expect(answer.headers.get("x-tollgate-upstream")).toBe("vectors");
  expect((await requestOf(id))["hold_nanos"]).toBe(told["most_cost_nanos"]);
});

test.each([
  { name: "texts", asked: { model: "text-embedding-3-small", texts: ["hello"], dimensions: 3 } },
  {
    name: "a body",
    asked: {
      source: {
        wire: "openai-embeddings",
        body: Buffer.from('{"model":"text-embedding-3-small","input":"hello"}').toString("base64"),
      },
    },
  },
])("the typed form around $name is estimated as well", async ({ asked }) => {
  const { secret } = await openAccount(1_000_000_000n, { scopes: ["embeddings"] });
  const told = await estimate("", { embedding: asked }, secret);
  // Five letters, and either their quotes or the marks that stand around each text.
  expect(told).toMatchObject({ admitted: true, input_tokens: "1", input_tokens_max: "7" });
});

const BODY = { model: "text-embedding-3-small", input: "hello" };
/** Seven bytes of JSON are the most tokens that "hello" can be. */
const MOST = 7n * INPUT_NANOS + REQUEST_NANOS;
/** The fake upstream counts five. */
const COST = 5n * INPUT_NANOS + REQUEST_NANOS;

interface Refusal {
  readonly name: string;
  readonly creditNanos?: bigint;
  readonly settings?: Json;
  /** Requests that come before. */
  readonly before?: number;
  readonly reason: string;
  readonly status: number;
  readonly facts: Json;
}

const REFUSALS: readonly Refusal[] = [
  {
    name: "its models",
    settings: { models: ["other-*"] },
    reason: "MODEL_NOT_ALLOWED",
    status: 403,
    facts: { model: BODY.model },
  },
  {
    name: "its requests of a minute",
    settings: { requests_per_minute: "1" },
    before: 1,
    reason: "RATE_LIMITED",
    status: 429,
    facts: { limit: "requests_per_minute", remaining: "0" },
  },
  {
    name: "its tokens of a minute",
    settings: { tokens_per_minute: "10" },
    before: 1,
    reason: "RATE_LIMITED",
    status: 429,
    facts: { limit: "tokens_per_minute", limit_value: "10" },
  },
  {
    name: "its balance",
    creditNanos: MOST - 1n,
    reason: "BALANCE_TOO_LOW",
    status: 402,
    facts: { available_nanos: String(MOST - 1n), needed_nanos: String(MOST) },
  },
  {
    name: "its budget of a day",
    settings: { budget_day_nanos: String(MOST + COST - 1n) },
    before: 1,
    reason: "BUDGET_EXCEEDED",
    status: 402,
    facts: { budget: "day", remaining_nanos: String(MOST - 1n), needed_nanos: String(MOST) },
  },
  {
    name: "its most for one request",
    settings: { request_cost_max_nanos: String(MOST - 1n) },
    reason: "BUDGET_EXCEEDED",
    status: 402,
    facts: { budget: "request", limit_nanos: String(MOST - 1n) },
  },
];

/** The facts without times, which go on between the question and the request. */
function timeless(facts: unknown): Json {
  return Object.fromEntries(Object.entries(facts as Json).filter(([name]) => !/^reset|^request_id$|retry/.test(name)));
}

test.each(REFUSALS)("vectors that are refused by $name are told so", async (row) => {
  const { id, secret } = await openAccount(row.creditNanos ?? 1_000_000_000n, row.settings);
  for (let call = 0; call < (row.before ?? 0); call++)
    expect((await post("/v1/embeddings", BODY, secret)).status).toBe(200);
  // What a settlement gives back comes just behind the answer.
  await expect.poll(async () => (await management.balance(id)).heldNanos).toBe(0n);
  const asked = fake.requests.length;
  const told = await estimate("/v1/embeddings", BODY, secret);
  const refused = await embedOverGrpc(client, Buffer.from(JSON.stringify(BODY)), secret);
  expect(fake.requests).toHaveLength(asked);
  expect(told).toMatchObject({
    admitted: false,
    hold_nanos: "0",
    error_reason: row.reason,
    http_status: row.status,
    error_metadata: row.facts,
  });
  expect(refused.reason).toBe(row.reason);
  expect(timeless(told["error_metadata"])).toEqual(timeless(refused.facts));
  expect((await post("/v1/embeddings", BODY, secret)).status).toBe(row.status);
});

test("exactly what the estimate calls the most is enough", async () => {
  const { secret } = await openAccount(MOST);
  expect(await estimate("/v1/embeddings", BODY, secret)).toMatchObject({
    admitted: true,
    most_cost_nanos: String(MOST),
  });
  expect((await post("/v1/embeddings", BODY, secret)).status).toBe(200);
});

test.each([
  { name: "no input", body: { model: BODY.model }, status: 400, param: "input" },
  { name: "an unknown model", body: { model: "none-1", input: "x" }, status: 404, param: "model" },
  { name: "a model for chats", body: { model: "chat-1", input: "x" }, status: 400, param: "model" },
])("what is wrong with a request for vectors refuses its estimate: $name", async ({ body, status, param }) => {
  const { secret } = await openAccount(1_000_000_000n);
  const estimated = await post("/api/v1/estimate/v1/embeddings", body, secret);
  const real = await post("/v1/embeddings", body, secret);
  expect([estimated.status, real.status]).toEqual([status, status]);
  const { error } = (await estimated.json()) as { error: Json };
  expect(error).toMatchObject({ param });
  expect(((await real.json()) as { error: Json }).error).toEqual(error);
});

test("each key estimates what it may ask", async () => {
  const vectors = await openAccount(1_000_000_000n, { scopes: ["embeddings"] });
  const chat = await openAccount(1_000_000_000n, { scopes: ["chat"] });
  const says = { model: "chat-1", messages: [{ role: "user", content: "Hello" }] };
  const cases = [
    { key: vectors, path: "/v1/embeddings", body: BODY, status: 200 },
    { key: vectors, path: "", body: { embedding: { model: BODY.model, texts: ["x"] } }, status: 200 },
    { key: vectors, path: "/v1/chat/completions", body: says, status: 403 },
    { key: vectors, path: "", body: says, status: 403 },
    { key: chat, path: "/v1/chat/completions", body: says, status: 200 },
    { key: chat, path: "/v1/embeddings", body: BODY, status: 403 },
    { key: chat, path: "", body: { embedding: { model: BODY.model, texts: ["x"] } }, status: 403 },
  ];
  for (const { key, path, body, status } of cases) {
    const response = await post(`/api/v1/estimate${path}`, body, key.secret);
    expect(response.status, `${path} ${await response.text()}`).toBe(status);
  }
});

test("a question for both a generation and vectors is refused", async () => {
  const { secret } = await openAccount(1_000_000_000n);
  const body = { embedding: { model: BODY.model, texts: ["x"] }, generation: { model: "chat-1", prompt: {} } };
  const response = await post("/api/v1/estimate", body, secret);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { param: "embedding" } });
});

describe("a completion of a text is held for as estimated", () => {
  test.each([
    { name: "on a model for chats", body: { model: "chat-1", prompt: "Hello" }, outputTokens: 16n },
    { name: "on a model for texts", body: { model: "base-1", prompt: "Hello", max_tokens: 20 }, outputTokens: 20n },
    { name: "of several texts", body: { model: "base-1", prompt: ["a", "b"], max_tokens: 20 }, outputTokens: 40n },
    { name: "of tokens", body: { model: "base-1", prompt: [1, 2, 3], best_of: 2, max_tokens: 9 }, outputTokens: 18n },
  ])("$name", async ({ body, outputTokens }) => {
    const { id, secret } = await openAccount(1_000_000_000n);
    const told = await estimate("/v1/completions", body, secret);
    const most = BigInt(JSON.stringify(body).length) * INPUT_NANOS + outputTokens * OUTPUT_NANOS;
    expect(told).toMatchObject({
      admitted: true,
      output_tokens_max: String(outputTokens),
      most_cost_nanos: String(most),
      hold_nanos: String(most),
    });
    expect(BigInt(String(told["least_cost_nanos"])) <= BigInt(String(told["expected_cost_nanos"]))).toBe(true);
    expect(BigInt(String(told["expected_cost_nanos"])) <= most).toBe(true);
    // How this upstream answers such a request says nothing here: it is held for before it is asked.
    await (await post("/v1/completions", body, secret)).text();
    expect((await requestOf(id))["hold_nanos"]).toBe(String(most));
  });
});
