/** What a target refuses before it is asked is foretold by an estimate, in the words of the refusal itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

type Json = Readonly<Record<string, unknown>>;

let fake: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let plain: string;
let strict: string;

beforeAll(async () => {
  // Whatever is sent comes here, so that it can be seen that nothing was.
  fake = await startFakeUpstream();
  const origin = fake.url.replace(/\/v1$/, "");
  const limits = 'context_tokens: 1000, output_tokens_max: 100, price: { input: "0.01", output: "0.1" }';
  const model = (targets: string, more = ""): string => `{ targets: [${targets}], ${limits}${more} }`;
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  plain: { family: openai-compatible, base_url: "${fake.url}" }`,
      `  mistral: { family: mistral, base_url: "${fake.url}", api_key: of-this-test }`,
      `  claude: { family: anthropic, base_url: "${origin}", api_key: of-this-test }`,
      `  google: { family: gemini, base_url: "${origin}", api_key: AIza-of-this-test }`,
      "models:",
      `  plain-1: ${model("{ upstream: plain }")}`,
      `  blind-1: ${model("{ upstream: plain }", ", facts: { images: false }")}`,
      `  mistral-1: ${model("{ upstream: mistral }")}`,
      `  claude-opus-5: ${model("{ upstream: claude }")}`,
      `  gemini-embedding-001: ${model("{ upstream: google }")}`,
      `  either-1: ${model("{ upstream: mistral }, { upstream: plain }")}`,
      `  first-1: ${model("{ upstream: mistral }, { upstream: plain, priority: 2 }")}`,
      `  second-1: ${model("{ upstream: plain }, { upstream: mistral, priority: 2 }")}`,
      "",
    ].join("\n"),
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  // An operator's keys, which are shown the route.
  plain = (await management.makeKey("acme", { scopes: ["operator"] })).secret;
  strict = (await management.makeKey("acme", { scopes: ["operator"], strict: true })).secret;
});
afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

function post(path: string, body: unknown, secret: string): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function estimate(path: string, body: unknown, secret: string): Promise<Json> {
  const response = await post(`/api/v1/estimate${path}`, body, secret);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Json;
}

const CHAT = "/v1/chat/completions";
const SAYS = [{ role: "user", content: "Hello" }];
const SEES = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/cat.png" } }] }];

const REFUSED = [
  {
    name: "what another wire cannot say",
    path: CHAT,
    body: { model: "claude-opus-5", messages: SAYS, logprobs: true },
  },
  { name: "a picture for a model that sees none", path: CHAT, body: { model: "blind-1", messages: SEES } },
  {
    name: "what a strict key will not go without",
    path: CHAT,
    body: { model: "mistral-1", messages: SAYS, user: "u-1", service_tier: "flex" },
    isStrict: true,
  },
  { name: "what a dialect cannot answer", path: CHAT, body: { model: "mistral-1", messages: SAYS, logprobs: true } },
  { name: "a completion that no chat can answer", path: "/v1/completions", body: { model: "plain-1", prompt: [1, 2] } },
  { name: "tokens for Google's vectors", path: "/v1/embeddings", body: { model: "gemini-embedding-001", input: [1] } },
  {
    name: "the first of two targets",
    path: CHAT,
    body: { model: "first-1", messages: SAYS, logprobs: true },
  },
  {
    name: "a stream",
    path: CHAT,
    body: { model: "claude-opus-5", messages: SAYS, logprobs: true, stream: true },
  },
];

test.each(REFUSED)("$name is foretold, and nothing is sent", async ({ path, body, isStrict = false }) => {
  const secret = isStrict ? strict : plain;
  const sent = fake.requests.length;
  const told = await estimate(path, body, secret);
  const real = await post(path, body, secret);
  const { error } = (await real.json()) as { error: Json };
  expect(fake.requests).toHaveLength(sent);
  expect(real.status).toBe(400);
  expect(error["param"]).toEqual(expect.any(String));
  expect(told).toMatchObject({
    admitted: false,
    hold_nanos: "0",
    http_status: 400,
    error_message: error["message"],
    error_metadata: { param: error["param"], model: body.model },
  });
  expect(told["error_reason"]).toMatch(/^PARAMETER_/);
  const [first] = told["route"] as Json[];
  expect(first).toMatchObject({ error_reason: told["error_reason"], error_message: error["message"] });
  // What it would cost, were it asked, is told all the same.
  expect(BigInt(String(told["most_cost_nanos"])) > 0n).toBe(true);
});

test("what refuses the request before any target is told first", async () => {
  const { secret } = await management.makeKey("acme", { request_cost_max_nanos: "1" });
  const body = { model: "blind-1", messages: SEES };
  expect(await estimate(CHAT, body, secret)).toMatchObject({ admitted: false, http_status: 402 });
  expect((await post(CHAT, body, secret)).status).toBe(402);
});

test("what a key that is not strict goes without refuses nothing", async () => {
  const body = { model: "mistral-1", messages: SAYS, user: "u-1", service_tier: "flex" };
  const told = await estimate(CHAT, body, plain);
  expect(told).toMatchObject({ admitted: true, route: [{ error_metadata: {} }] });
  expect((await post(CHAT, body, plain)).status).toBe(200);
});

test("which upstreams there are, what they are asked for and how they stand is shown to no tenant", async () => {
  const tenant = (await management.makeKey("acme")).secret;
  for (const body of [
    { model: "either-1", messages: SAYS, logprobs: true },
    { model: "second-1", messages: SAYS },
    { model: "blind-1", messages: SEES },
  ]) {
    const told = await estimate(CHAT, body, tenant);
    expect(told).toMatchObject({ model: body.model, route: [] });
    // The one that would answer is told, as it is of each answer.
    const [first] = (await estimate(CHAT, body, plain))["route"] as Json[];
    expect(told["upstream"]).toBe(first?.upstream);
  }
});

test("where only one of the targets that may be tried first refuses, the route says which", async () => {
  const told = await estimate(CHAT, { model: "either-1", messages: SAYS, logprobs: true }, plain);
  expect(told["admitted"]).toBe(true);
  const route = told["route"] as Json[];
  const refusals = Object.fromEntries(route.map((target) => [target.upstream, target.error_reason]));
  expect(refusals).toEqual({ mistral: "PARAMETER_UNSUPPORTED", plain: undefined });
});

test("what only a later target refuses does not refuse the request", async () => {
  const body = { model: "second-1", messages: SAYS, logprobs: true };
  const told = await estimate(CHAT, body, plain);
  expect(told).toMatchObject({
    admitted: true,
    upstream: "plain",
    route: [{ error_message: "" }, { error_reason: "PARAMETER_UNSUPPORTED", error_metadata: { param: "logprobs" } }],
  });
  expect((await post(CHAT, body, plain)).status).toBe(200);
});

test("the typed form is foretold as well", async () => {
  const image = { image: { url: "https://example.com/cat.png" } };
  const prompt = { messages: [{ role: "user", parts: [image] }] };
  const told = await estimate("", { generation: { model: "blind-1", prompt } }, plain);
  expect(told).toMatchObject({
    admitted: false,
    error_reason: "PARAMETER_UNSUPPORTED",
    error_metadata: { param: "messages" },
  });
});
