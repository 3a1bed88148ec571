/** Judgements of content end to end: OpenAI's official client and typed services. A gateway invents no categories. */
import { Metadata } from "@grpc/grpc-js";
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicUnary, type Json } from "../../support/dynamic-client.js";
import { type FakeRerank, startFakeRerank } from "../../support/fake-rerank.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

/** Nano-USD for a token of input. */
const TOKEN_NANOS = 100n;

function settings(url: string): string {
  return [
    "upstreams:",
    `  fake: { family: openai, base_url: "${url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  mistral: { family: mistral, base_url: "${url}/v1", api_key: "upstream-secret" }`,
    `  claude: { family: anthropic, base_url: "${url}", api_key: "sk-ant-upstream-secret" }`,
    "models:",
    "  omni-moderation-latest: { targets: [{ upstream: fake }], price: free }",
    '  sold: { targets: [{ upstream: mistral, model: judge }], kind: moderation, price: { input: "0.10", output: "0" } }',
    '  claude-1: { targets: [{ upstream: claude }], output_tokens_max: 10, price: { input: "1", output: "1" } }',
    "",
  ].join("\n");
}

let fake: FakeRerank;
let core: GatewayProcess;
let management: Management;
let secret: string;
let client: OpenAI;

beforeAll(async () => {
  fake = await startFakeRerank();
  core = await startGateway({ settings: settings(fake.url) });
  management = new Management(core);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
  client = new OpenAI({ baseURL: `${core.url}/v1`, apiKey: secret, maxRetries: 0 });
});
afterEach(() => {
  fake.override = {};
  fake.requests.length = 0;
});
afterAll(async () => {
  await core.stop();
  await fake.close();
});

/** As a service that calls the core. */
async function moderate(request: Json): Promise<Json> {
  const service = clientOf("tollgate.v1.InferenceService", core.grpc);
  const call: DynamicUnary = Reflect.get(service, "moderate");
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  try {
    return await new Promise<Json>((resolve, reject) => {
      call.call(service, request, metadata, {}, (error, value) => (error ? reject(error) : resolve(value)));
    });
  } finally {
    service.close();
  }
}

async function costOf(body: OpenAI.ModerationCreateParams): Promise<bigint> {
  const { response } = await client.moderations.create(body).withResponse();
  return BigInt(response.headers.get("x-tollgate-cost-nanos") ?? -1);
}

test("OpenAI's client reads a judgement of each text, by the model that it does not name", async () => {
  const answer = await client.moderations.create({ input: ["harm", "peace"] });
  expect(answer.results.map(({ flagged }) => flagged)).toEqual([true, false]);
  expect(fake.requests[0]?.body).toEqual({ input: ["harm", "peace"], model: "omni-moderation-latest" });
});

test("one judgement is of all parts, pictures too", async () => {
  const url = "data:image/png;base64,aGFybQ==";
  const input = [
    { type: "text" as const, text: "peace" },
    { type: "image_url" as const, image_url: { url } },
  ];
  const { results } = await client.moderations.create({ model: "omni-moderation-latest", input });
  expect(results).toHaveLength(1);
});

test("it is free where its price is, and charged by a count where tokens have a price and none are told", async () => {
  expect(await costOf({ input: "peace" })).toBe(0n);
  const cost = await costOf({ model: "sold", input: "one two three four five six seven eight" });
  expect(cost).toBeGreaterThanOrEqual(8n * TOKEN_NANOS);
  expect(cost).toBeLessThan(20n * TOKEN_NANOS);
  expect(fake.requests[1]?.body["model"]).toBe("judge");
  await management.verify();
});

test.each([
  { name: "no input", body: {}, param: "input" },
  { name: "an empty list", body: { input: [] }, param: "input" },
  { name: "a number", body: { input: 3 }, param: "input" },
  { name: "texts beside parts", body: { input: ["a", { type: "text", text: "b" }] }, param: "input" },
  { name: "a model that judges nothing", body: { model: "claude-1", input: "x" }, param: "model" },
])("$name is refused with its place", async ({ body, param }) => {
  const asked = client.moderations.create(body as OpenAI.ModerationCreateParams);
  await expect(asked).rejects.toMatchObject({ status: 400, param });
  expect(fake.requests).toEqual([]);
});

test("an answer that leaves an input out is the upstream's failure", async () => {
  fake.override = { body: '{"results":[{"flagged":false}]}' };
  await expect(client.moderations.create({ input: ["a", "b"] })).rejects.toMatchObject({ status: 502 });
});

test("an answer without a judgement is the upstream's failure, and no word that content is harmless", async () => {
  fake.override = { body: '{"results":[{}]}' };
  await expect(client.moderations.create({ model: "sold", input: "a" })).rejects.toMatchObject({ status: 502 });
});

describe("an upstream that tells categories alone, as Mistral", () => {
  const results = [
    { categories: { violence: true, other: false }, category_scores: { violence: 0.9, other: { toString: 1 } } },
    { categories: { violence: false }, category_scores: { violence: null } },
  ];

  test("flags for OpenAI's clients and for typed services what it found", async () => {
    fake.override = { body: JSON.stringify({ id: "1", model: "judge", results }) };
    const whole = await client.moderations.create({ model: "sold", input: ["a", "b"] });
    expect(whole.results.map(({ flagged }) => flagged)).toEqual([true, false]);
    expect(whole.results[0]).toMatchObject(results[0] ?? {});
    const typed = await moderate({ model: "sold", texts: ["a", "b"] });
    expect(typed["results"]).toMatchObject([{ flagged: true, category_scores: { violence: 0.9 } }, { flagged: false }]);
  });

  test("is not believed that content is harmless which it marks", async () => {
    fake.override = { body: JSON.stringify({ results: [{ flagged: false, categories: { violence: true } }] }) };
    const { results: judged } = await client.moderations.create({ model: "sold", input: "a" });
    expect(judged[0]?.flagged).toBe(true);
  });
});

test("a client that hangs up pays what its upstream tells, once, and nothing stays held", async () => {
  await management.account("hasty", 1_000_000_000n);
  const key = await management.makeKey("hasty");
  const hasty = new OpenAI({ baseURL: `${core.url}/v1`, apiKey: key.secret, maxRetries: 0 });
  fake.override = { delayMs: 500 };
  const gone = new AbortController();
  const asked = hasty.moderations.create({ model: "sold", input: "one two three four" }, { signal: gone.signal });
  await expect.poll(() => fake.requests.length).toBe(1);
  gone.abort();
  await expect(asked).rejects.toThrow();
  await expect.poll(async () => String((await management.balance("hasty")).heldNanos)).toBe("0");
  const { spentNanos } = await management.balance("hasty");
  expect(spentNanos).toBeGreaterThanOrEqual(4n * TOKEN_NANOS);
  expect(spentNanos).toBeLessThan(20n * TOKEN_NANOS);
});

test("a key without the scope is refused", async () => {
  const key = await management.makeKey("acme", { scopes: ["chat"] });
  const other = new OpenAI({ baseURL: `${core.url}/v1`, apiKey: key.secret, maxRetries: 0 });
  await expect(other.moderations.create({ input: "x" })).rejects.toMatchObject({ status: 403, code: "scope_missing" });
});

test("a typed service gets typed results", async () => {
  expect(await moderate({ texts: ["harm", "peace"] })).toMatchObject({
    model: "omni-moderation-latest",
    results: [
      { flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } },
      { flagged: false },
    ],
  });
});
