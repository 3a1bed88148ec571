/** Vectors end to end: the official OpenAI client and typed services, on the families that make them. */
import { type Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicUnary, type Json } from "../../support/dynamic-client.js";
import { type FakeVectors, startFakeVectors, TOKENS_EACH, vectorOf } from "../../support/fake-vectors.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";

const SECRET = "a root secret of this test, long enough";
/** Nano-USD for a token of input, and for each request. */
const INPUT_NANOS = 10n;
const REQUEST_NANOS = 7n;

function settings(url: string): string {
  const price = 'price: { input: "0.01", output: "0", request: "0.000000007" }';
  const model = (upstream: string, more = ""): string => `{ targets: [{ upstream: ${upstream} }], ${more} ${price} }`;
  return [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  failing: { family: openai-compatible, base_url: "${url}/v1", api_key: "failing" }`,
    `  google: { family: gemini, base_url: "${url}", api_key: "AIza-upstream-secret-of-this-test" }`,
    `  claude: { family: anthropic, base_url: "${url}", api_key: "sk-ant-upstream-secret" }`,
    "models:",
    `  vectors-1: ${model("fake", "kind: embedding, context_tokens: 100,")}`,
    `  unmarked-1: ${model("fake", "context_tokens: 100,")}`,
    `  renamed-1: { targets: [{ upstream: fake, model: org/vectors }], kind: embedding, ${price} }`,
    `  moved-1: { targets: [{ upstream: failing }, { upstream: fake, priority: 2 }], kind: embedding, ${price} }`,
    `  gemini-embedding-001: ${model("google", "context_tokens: 2000,")}`,
    `  claude-1: ${model("claude", "output_tokens_max: 10,")}`,
    `  chat-1: ${model("fake", "kind: chat, output_tokens_max: 10,")}`,
    "",
  ].join("\n");
}

let fake: FakeVectors;
let core: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  fake = await startFakeVectors();
  core = await startGateway({ settings: settings(fake.url), env: { TOLLGATE_SECRET: SECRET } });
  management = new Management(core);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterEach(() => {
  fake.override = {};
  fake.requests.length = 0;
});
afterAll(async () => {
  await core.stop();
  await fake.close();
});

let accounts = 0;
async function openAccount(creditNanos: bigint, keySettings: object = {}): Promise<{ id: string; secret: string }> {
  const id = `case-${++accounts}`;
  await management.account(id, creditNanos);
  return { id, secret: (await management.makeKey(id, { ...keySettings })).secret };
}

function client(apiKey = secret, url = core.url): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

function post(body: unknown, apiKey = secret): Promise<Response> {
  return fetch(`${core.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** What base64 of float32 keeps of the numbers. */
function single(values: readonly number[]): number[] {
  return values.map(Math.fround);
}

describe.each(SWEPT_TOPOLOGIES)("the official client's vectors, %s", (topology) => {
  let front: GatewayProcess;
  beforeAll(async () => {
    front =
      topology === "one process"
        ? core
        : await startGateway({ env: { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET } });
  });
  afterAll(async () => {
    if (front !== core) await front.stop();
  });

  test.each([
    { model: "vectors-1", told: "vectors-1-2" },
    { model: "unmarked-1", told: "unmarked-1-2" },
    { model: "renamed-1", told: "renamed-1" },
    { model: "gemini-embedding-001", told: "gemini-embedding-001" },
  ])("of $model come decoded, whichever encoding is asked", async ({ model, told }) => {
    const input = ["one", "three is longer"];
    const usage = { prompt_tokens: 2 * TOKENS_EACH, total_tokens: 2 * TOKENS_EACH };
    for (const encoding of [undefined, "float", "base64"] as const) {
      const asked = { model, input, ...(encoding === undefined ? {} : { encoding_format: encoding }) };
      const answer = await client(secret, front.url).embeddings.create(asked);
      expect(answer).toMatchObject({ object: "list", model: told, usage });
      expect(answer.data.map(({ index, object }) => [index, object])).toEqual([
        [0, "embedding"],
        [1, "embedding"],
      ]);
      // Asked for base64 in so many words, the client hands the text on.
      const vectors = answer.data.map(({ embedding }) =>
        typeof embedding === "string" ? decoded(embedding) : single(embedding),
      );
      expect(vectors, String(encoding)).toEqual(input.map((text, place) => single(vectorOf(text, place))));
    }
  });

  // More bytes than are read on the event loop.
  test.each([{ model: "vectors-1" }, { model: "gemini-embedding-001" }])(
    "of $model come decoded where they are long",
    async ({ model }) => {
      const dimensions = 1_536;
      fake.override = { dimensions };
      const input = Array.from({ length: 64 }, (_, place) => "x".repeat(place + 1));
      const wanted = input.map((text, place) => single(vectorOf(text, place, dimensions)));
      for (const encoding of [undefined, "float", "base64"] as const) {
        const asked = { model, input, ...(encoding === undefined ? {} : { encoding_format: encoding }) };
        const { data } = await client(secret, front.url).embeddings.create(asked);
        const vectors = data.map(({ embedding }) =>
          typeof embedding === "string" ? decoded(embedding) : single(embedding),
        );
        expect(vectors, String(encoding)).toEqual(wanted);
      }
    },
  );
});

function decoded(base64: string): number[] {
  const bytes = Buffer.from(base64, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}

test("a body of the upstream's own wire goes through byte for byte, both ways", async () => {
  const raw = '{ "input" : ["a\\u0041"], "model":"vectors-1", "x": 1.50, "user":"me" ,"dimensions":3}';
  const response = await post(raw);
  expect(fake.requests[0]?.raw).toBe(raw);
  const text = await response.text();
  expect(text).toContain('"x-own":true');
  expect(text).toMatch(/"x-upstream":\[1,\{"a":null\}\]\}$/);
  expect(response.headers.get("x-tollgate-cost-nanos")).toBe(String(BigInt(TOKENS_EACH) * INPUT_NANOS + REQUEST_NANOS));
  expect(response.headers.get("x-tollgate-upstream")).toBe("fake");
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
});

test.each([
  { form: "a text", input: "hello", count: 1 },
  { form: "texts", input: ["a", "b", "c"], count: 3 },
  { form: "tokens", input: [1, 2, 3], count: 1 },
  { form: "arrays of tokens", input: [[1, 2], [3]], count: 2 },
])("$form make as many vectors as inputs", async ({ input, count }) => {
  const answer = (await (await post({ model: "vectors-1", input })).json()) as { data: unknown[] };
  expect(answer.data).toHaveLength(count);
});

test.each([
  { asked: "float", given: "base64" },
  { asked: "base64", given: "float" },
] as const)(
  "an upstream that gives $given where $asked was asked is converted, and loses nothing else",
  async (way) => {
    fake.override = { encoding: way.given };
    const response = await post({ model: "vectors-1", input: ["one", "two"], encoding_format: way.asked });
    const answer = (await response.json()) as {
      data: { embedding: unknown; "x-own": boolean }[];
      "x-upstream": unknown;
    };
    expect(answer["x-upstream"]).toEqual([1, { a: null }]);
    for (const [place, entry] of answer.data.entries()) {
      const values =
        typeof entry.embedding === "string" ? decoded(entry.embedding) : single(entry.embedding as number[]);
      expect(typeof entry.embedding === "string").toBe(way.asked === "base64");
      expect(values).toEqual(single(vectorOf(place === 0 ? "one" : "two", place)));
      expect(entry["x-own"]).toBe(true);
    }
  },
);

test("Google is asked for a batch, with the length of the vectors", async () => {
  await client().embeddings.create({ model: "gemini-embedding-001", input: ["a", "b"], dimensions: 3, user: "me" });
  expect(fake.requests[0]).toMatchObject({
    url: "/v1beta/models/gemini-embedding-001:batchEmbedContents",
    headers: { "x-goog-api-key": "AIza-upstream-secret-of-this-test" },
    body: {
      requests: ["a", "b"].map((text) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] },
        outputDimensionality: 3,
      })),
    },
  });
});

describe("money", () => {
  test("the hold covers the input and nothing else, and exactly that much balance is enough", async () => {
    // Seven bytes of JSON are the most tokens that "hello" can be.
    const holdNanos = 7n * INPUT_NANOS + REQUEST_NANOS;
    const poor = await openAccount(holdNanos - 1n);
    const refused = await post({ model: "vectors-1", input: "hello" }, poor.secret);
    expect(refused.status).toBe(402);
    expect(await refused.json()).toMatchObject({ error: { code: "insufficient_balance", type: "insufficient_quota" } });
    expect(fake.requests).toHaveLength(0);
    const { id, secret: key } = await openAccount(holdNanos);
    expect((await post({ model: "vectors-1", input: "hello" }, key)).status).toBe(200);
    await expect
      .poll(() => management.balance(id))
      .toMatchObject({
        heldNanos: 0n,
        spentNanos: BigInt(TOKENS_EACH) * INPUT_NANOS + REQUEST_NANOS,
      });
    const { body } = await management.call("GET", `/requests?account_id=${id}`);
    expect(body["requests"]).toMatchObject([
      { state: "settled", hold_nanos: String(holdNanos), usage: { input_tokens: "5", output_tokens: "0" } },
    ]);
    await management.verify();
  });

  test("many inputs may be longer together than the model's context", async () => {
    const { id, secret: key } = await openAccount(100_000_000_000n);
    const input = Array.from({ length: 10 }, () => "x".repeat(90));
    expect((await post({ model: "vectors-1", input }, key)).status).toBe(200);
    const { body } = await management.call("GET", `/requests?account_id=${id}`);
    const [request] = body["requests"] as Json[];
    expect(request?.["hold_nanos"]).toBe(String(920n * INPUT_NANOS + REQUEST_NANOS));
  });

  test("where the upstream tells no usage, the input is counted", async () => {
    fake.override = { silent: true };
    for (const [model, input] of [
      ["gemini-embedding-001", ["hello", "hello"]],
      ["vectors-1", [[1, 2, 3], [4]]],
    ] as const) {
      const { id, secret: key } = await openAccount(100_000_000_000n);
      expect((await post({ model, input }, key)).status).toBe(200);
      const { body } = await management.call("GET", `/requests?account_id=${id}`);
      const tokens = model === "vectors-1" ? 4n : 3n; // "hello", a line feed, "hello"
      expect(body["requests"]).toMatchObject([
        {
          state: "settled",
          usage_source: "counted",
          cost_nanos: String(tokens * INPUT_NANOS + REQUEST_NANOS),
        },
      ]);
    }
  });

  test.each([
    { name: "a refusal", script: { status: 400, body: '{"error":{"message":"bad dimensions"}}' }, want: 400 },
    { name: "a page of HTML", script: { body: "<html>" }, want: 502 },
    { name: "an answer without its vectors", script: { body: '{"object":"list","data":[]}' }, want: 502 },
    { name: "an answer that is cut in a vector", script: { body: '{"data":[{"embedding":[1,2' }, want: 502 },
    { name: "too few vectors", script: { body: '{"data":[{"embedding":[1],"index":0}]}' }, want: 502 },
    { name: "a credential that is refused", script: { status: 401, body: "{}" }, want: 502 },
  ])("$name costs nothing and is told", async ({ script, want }) => {
    const { id, secret: key } = await openAccount(1_000_000n);
    fake.override = script;
    const model = want === 502 && script.status === 401 ? "renamed-1" : "vectors-1";
    const response = await post({ model, input: ["a", "b"] }, key);
    expect(response.status).toBe(want);
    expect(await response.text()).not.toContain("html");
    await management.call("POST", "/upstreams/fake:reset", {});
    await expect.poll(() => management.balance(id)).toMatchObject({ heldNanos: 0n, spentNanos: 0n });
  });

  test("a client that leaves is charged what its upstream bills all the same", async () => {
    const { id, secret: key } = await openAccount(1_000_000n);
    fake.override = { delayMs: 500 };
    const gone = new AbortController();
    const asked = client(key).embeddings.create({ model: "vectors-1", input: "hello" }, { signal: gone.signal });
    await expect.poll(() => fake.requests.length).toBe(1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    const spentNanos = BigInt(TOKENS_EACH) * INPUT_NANOS + REQUEST_NANOS;
    await expect.poll(() => management.balance(id)).toMatchObject({ heldNanos: 0n, spentNanos });
  });
});

test("a failing upstream is left for the next", async () => {
  const response = await post({ model: "moved-1", input: "hello" });
  expect(response.status).toBe(200);
  expect(response.headers.get("x-tollgate-upstream")).toBe("fake");
  expect(response.headers.get("x-tollgate-attempts")).toBe("2");
});

test("a key needs the scope, and its limits hold", async () => {
  const chatOnly = await openAccount(0n, { scopes: ["chat"] });
  const refused = await post({ model: "vectors-1", input: "x" }, chatOnly.secret);
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: "scope_missing" } });
  const narrow = await openAccount(1_000_000n, { scopes: ["embeddings"], models: ["other-*"] });
  expect((await post({ model: "vectors-1", input: "x" }, narrow.secret)).status).toBe(403);
  const slow = await openAccount(1_000_000n, { scopes: ["embeddings"], tokens_per_minute: "10" });
  expect((await post({ model: "vectors-1", input: "hello" }, slow.secret)).status).toBe(200);
  const limited = await post({ model: "vectors-1", input: "hello again" }, slow.secret);
  expect(limited.status).toBe(429);
  expect(limited.headers.get("x-ratelimit-limit-tokens")).toBe("10");
});

test.each([
  { name: "no input", body: { model: "vectors-1" }, want: 400, param: "input" },
  { name: "an unknown model", body: { model: "nope", input: "x" }, want: 404, param: "model" },
  { name: "a model for chats", body: { model: "chat-1", input: "x" }, want: 400, param: "model" },
  { name: "a family without vectors", body: { model: "claude-1", input: "x" }, want: 400, param: "model" },
  { name: "tokens for Google", body: { model: "gemini-embedding-001", input: [1, 2] }, want: 400, param: "input" },
])("$name is refused with its parameter", async ({ body, want, param }) => {
  const response = await post(body);
  expect(response.status).toBe(want);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  expect(fake.requests).toHaveLength(0);
});

test("a chat with a model that makes vectors is refused, streamed or not", async () => {
  for (const stream of [false, true]) {
    const messages = [{ role: "user" as const, content: "hi" }];
    const asked = client().chat.completions.create({ model: "gemini-embedding-001", messages, stream });
    await expect(asked).rejects.toMatchObject({ status: 400, param: "model" });
  }
  expect(fake.requests).toHaveLength(0);
});

describe("a typed service", () => {
  let service: Client;
  beforeAll(() => {
    service = clientOf("tollgate.v1.InferenceService", core.grpc);
  });
  afterAll(() => service.close());

  function embed(request: object): Promise<Json> {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${secret}`);
    const method: DynamicUnary = Reflect.get(service, "embed");
    return new Promise((resolve, reject) => {
      method.call(service, request, metadata, {}, (error, answer) => (error ? reject(error) : resolve(answer)));
    });
  }

  test.each(["vectors-1", "gemini-embedding-001"])(
    "has the vectors of %s for texts that are read beside the event loop",
    async (model) => {
      const texts = Array.from({ length: 200 }, (_, place) => `${place} ${"word ".repeat(100)}`);
      const answer = await embed({ model, texts, dimensions: 3 });
      expect(answer).toMatchObject({
        embeddings: texts.map((text, place) => ({ values: single(vectorOf(text, place)) })),
        cost_nanos: String(BigInt(200 * TOKENS_EACH) * INPUT_NANOS + REQUEST_NANOS),
      });
      const { embeddings } = await embed({ model, texts, accept_wire: "openai-embeddings" });
      expect(embeddings).toHaveLength(model === "vectors-1" ? 0 : 200);
      expect(await embed({ model: "nope", texts }).catch((error: unknown) => error)).toMatchObject({
        code: status.NOT_FOUND,
      });
    },
  );

  test.each(["vectors-1", "gemini-embedding-001"])("has the vectors of %s as floats", async (model) => {
    for (const encoding of ["float", "base64"] as const) {
      fake.override = { encoding };
      const answer = await embed({ model, texts: ["one", "two!"], dimensions: 3 });
      expect(answer).toMatchObject({
        embeddings: [{ values: single(vectorOf("one", 0)) }, { values: single(vectorOf("two!", 1)) }],
        usage: { input_tokens: "10", output_tokens: "0" },
        cost_nanos: String(10n * INPUT_NANOS + REQUEST_NANOS),
      });
    }
  });

  test.each([
    { name: "no model", request: { texts: ["x"] }, code: status.INVALID_ARGUMENT },
    { name: "no texts", request: { model: "vectors-1" }, code: status.INVALID_ARGUMENT },
    { name: "vectors of no length", request: { model: "vectors-1", texts: ["x"], dimensions: 0 }, code: 3 },
    { name: "an unknown wire", request: { source: { wire: "openai-chat", body: Buffer.from("{}") } }, code: 3 },
    { name: "an unknown model", request: { model: "nope", texts: ["x"] }, code: status.NOT_FOUND },
  ])("is refused with $name", async ({ request, code }) => {
    const refusal = await embed(request).catch((error: unknown) => error as ServiceError);
    expect(refusal).toMatchObject({ code });
  });
});
