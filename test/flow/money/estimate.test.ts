/** Estimates tell what the request itself would meet, in every client's own words, and leave no trace. */
import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { expectEnvelope } from "../../support/envelope.js";
import { script } from "../../support/fake-upstream.js";
import { generateOverGrpc } from "../../support/grpc-refusal.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { PRICE, startWorld, type World } from "../../support/world.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";

type Json = Readonly<Record<string, unknown>>;

interface Estimate extends Json {
  readonly admitted: boolean;
  readonly error_reason: string;
  readonly error_message: string;
  readonly error_metadata: Readonly<Record<string, string>>;
  readonly http_status: number;
  readonly route: readonly Json[];
}

let world: World;
let client: InferenceServiceClient;
beforeAll(async () => {
  world = await startWorld();
  client = new InferenceServiceClient(world.core.grpc, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await world.close();
});

async function post(path: string, body: unknown, secret: string, headers: Json = {}): Promise<Response> {
  return fetch(`${world.front.url}/api/v1/estimate${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function estimate(body: unknown, secret = world.secret, path = "", headers: Json = {}): Promise<Estimate> {
  const response = await post(path, body, secret, headers);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Estimate;
}

let accounts = 0;
async function keyOf(creditNanos: bigint, settings: Json = {}, budgets: Json = {}): Promise<string> {
  const id = `asker-${++accounts}`;
  await world.management.account(id, creditNanos);
  if (Object.keys(budgets).length > 0) {
    const body = { settings: budgets, update_mask: Object.keys(budgets).join(",") };
    expect((await world.management.call("PATCH", `/accounts/${id}`, body)).status).toBe(200);
  }
  return (await world.management.makeKey(id, settings)).secret;
}

const BODY = chat("Hello", { max_tokens: 100 });
const BYTES = JSON.stringify(BODY).length;
/** What the request can cost at most: each byte a token, and all of the answer. */
const MOST = BigInt(BYTES) * PRICE.inputNanos + 100n * PRICE.outputNanos;
/** What the fake upstream reports by itself: 10 tokens read and 4 answered. */
const COST = 10n * PRICE.inputNanos + 4n * PRICE.outputNanos;

interface Case {
  readonly name: string;
  readonly creditNanos?: bigint;
  readonly settings?: Json;
  /** Of the account. */
  readonly budgets?: Json;
  /** Requests that come before. */
  readonly before?: number;
  /** Whether another one runs meanwhile. */
  readonly running?: boolean;
  readonly reason: string;
  readonly facts: Json;
  readonly status: number;
}

const CASES: readonly Case[] = [
  {
    name: "a model that the key may not use",
    settings: { models: ["other-*"] },
    reason: "MODEL_NOT_ALLOWED",
    facts: { model: "fake-1" },
    status: 403,
  },
  {
    name: "its requests of a minute",
    settings: { requests_per_minute: "1" },
    before: 1,
    reason: "RATE_LIMITED",
    facts: { limit: "requests_per_minute", limit_value: "1", remaining: "0" },
    status: 429,
  },
  {
    name: "its tokens of a minute",
    settings: { tokens_per_minute: "15" },
    before: 1,
    reason: "RATE_LIMITED",
    facts: { limit: "tokens_per_minute", limit_value: "15", remaining: "1" },
    status: 429,
  },
  {
    name: "its requests at once",
    settings: { concurrency: "1" },
    running: true,
    reason: "RATE_LIMITED",
    facts: { limit: "concurrency", limit_value: "1", remaining: "0" },
    status: 429,
  },
  {
    name: "its balance",
    creditNanos: MOST - 1n,
    reason: "BALANCE_TOO_LOW",
    facts: { available_nanos: String(MOST - 1n), needed_nanos: String(MOST) },
    status: 402,
  },
  {
    name: "its budget of a day",
    settings: { budget_day_nanos: String(MOST + COST - 1n) },
    before: 1,
    reason: "BUDGET_EXCEEDED",
    facts: { budget: "day", remaining_nanos: String(MOST - 1n), needed_nanos: String(MOST) },
    status: 402,
  },
  {
    name: "its budget in total",
    settings: { budget_total_nanos: String(MOST - 1n) },
    reason: "BUDGET_EXCEEDED",
    facts: { budget: "total", limit_nanos: String(MOST - 1n) },
    status: 402,
  },
  {
    name: "its account's budget of a month",
    budgets: { budget_month_nanos: String(MOST - 1n) },
    reason: "BUDGET_EXCEEDED",
    facts: { budget: "month", limit_nanos: String(MOST - 1n), needed_nanos: String(MOST) },
    status: 402,
  },
  {
    name: "its account's most for one request",
    budgets: { request_cost_max_nanos: String(MOST - 1n) },
    reason: "BUDGET_EXCEEDED",
    facts: { budget: "request", limit_nanos: String(MOST - 1n) },
    status: 402,
  },
  {
    name: "its most for one request",
    settings: { request_cost_max_nanos: String(MOST - 1n) },
    reason: "BUDGET_EXCEEDED",
    facts: { budget: "request", limit_nanos: String(MOST - 1n) },
    status: 402,
  },
];

/** The facts without times, which go on between the question and the request. */
function timeless(facts: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.entries(facts).filter(([name]) => !/^reset|^request_id$|retry/.test(name)));
}

describe.each(CASES)("a request that is refused by $name", ({ creditNanos = 1_000_000_000n, ...row }) => {
  test("is told so, with the facts of the refusal itself", async () => {
    const secret = await keyOf(creditNanos, row.settings, row.budgets);
    for (let call = 0; call < (row.before ?? 0); call++)
      expect((await postChat(world.front, secret, BODY)).status).toBe(200);
    const stop = new AbortController();
    if (row.running === true) {
      const arrived = world.upstream.requests.length;
      postChat(world.front, secret, chat(script({ hang: true }), { max_tokens: 1 }), { signal: stop.signal }).catch(
        () => undefined,
      );
      await expect.poll(() => world.upstream.requests.length).toBeGreaterThan(arrived);
    }
    const told = await estimate(BODY, secret);
    const refused = await generateOverGrpc(client, Buffer.from(JSON.stringify(BODY)), secret);
    stop.abort();
    expect(told).toMatchObject({ admitted: false, http_status: row.status, hold_nanos: "0" });
    expect(told.error_reason).toBe(row.reason);
    expect(told.error_metadata).toMatchObject(row.facts);
    expect(refused.reason).toBe(row.reason);
    expect(timeless(told.error_metadata)).toEqual(timeless(refused.facts));
    if (row.reason === "MODEL_NOT_ALLOWED") expect(told).toMatchObject({ route: [], most_cost_nanos: "0" });
    else expect(told).toMatchObject({ upstream: "fake", most_cost_nanos: String(MOST) });
  });
});

describe("a request that would be admitted", () => {
  test("is told its route, its tokens and its costs", async () => {
    const told = await estimate(BODY, await keyOf(1_000_000_000n, { scopes: ["operator"] }));
    expect(told).toMatchObject({
      model: "fake-1",
      upstream: "fake",
      route: [{ upstream: "fake", model: "fake-1", priority: 1, weight: 1, health: "healthy" }],
      input_source: "estimate",
      input_tokens_max: String(BYTES),
      output_tokens_max: "100",
      most_cost_nanos: String(MOST),
      hold_nanos: String(MOST),
      expected_output_tokens: "100",
      expected_request_count: "0",
      admitted: true,
      error_metadata: {},
      http_status: 0,
    });
    const input = BigInt(String(told["input_tokens"]));
    expect(told["least_cost_nanos"]).toBe(String(input * PRICE.inputNanos));
    expect(told["expected_cost_nanos"]).toBe(String(input * PRICE.inputNanos + 100n * PRICE.outputNanos));
  });

  test("is expected to answer as the account's requests did before", async () => {
    const secret = await keyOf(1_000_000_000n);
    for (const tokens of [4, 8, 7]) {
      const usageIs = { prompt_tokens: 10, completion_tokens: tokens };
      expect((await postChat(world.front, secret, chat(script({ usageIs })))).status).toBe(200);
    }
    // The settlement goes on after the answer.
    await expect.poll(async () => (await estimate(BODY, secret))["expected_request_count"]).toBe("3");
    const told = await estimate(BODY, secret);
    expect(told["expected_output_tokens"]).toBe("7");
    const expected = BigInt(String(told["input_tokens"])) * PRICE.inputNanos + 7n * PRICE.outputNanos;
    expect(told["expected_cost_nanos"]).toBe(String(expected));
    expect((await estimate(chat("Hello", { max_tokens: 5 }), secret))["expected_output_tokens"]).toBe("5");
  });

  test("is told the output that the balance covers, or the refusal where it asks for that", async () => {
    const half = BigInt(BYTES) * PRICE.inputNanos + 400n * PRICE.outputNanos;
    const secret = await keyOf(half);
    const body = chat("Hello", { max_tokens: 999 });
    expect(JSON.stringify(body).length).toBe(BYTES);
    const refused = await estimate(body, secret, "", { "x-tollgate-clamp": "0" });
    expect(refused).toMatchObject({ admitted: false, error_reason: "BALANCE_TOO_LOW" });
    const told = await estimate(body, secret);
    expect(told).toMatchObject({ admitted: true, output_tokens_max: "400", hold_nanos: String(half) });
    const answer = await postChat(world.front, secret, body);
    expect(answer.headers.get("x-tollgate-clamped")).toBe("400");
  });

  test("leaves no trace, however often it is asked about", async () => {
    const settings = { requests_per_minute: "1", tokens_per_minute: "1000", concurrency: "1" };
    const secret = await keyOf(MOST, { ...settings, budget_day_nanos: String(MOST) });
    const arrived = world.upstream.requests.length;
    const account = `asker-${accounts}`;
    const newest = await world.management.newestEntry(account);
    const before = await world.management.verify();
    const told = await Promise.all(Array.from({ length: 20 }, () => estimate(BODY, secret)));
    expect(told.every(({ admitted }) => admitted)).toBe(true);
    // The first proof itself stands in the audit log, and nothing else does.
    const events = String(BigInt(String(before["audit_event_count"])) + 1n);
    // Leases come and go by themselves: their transfers are none of the account's entries.
    const { transfer_count: _, ...after } = await world.management.verify();
    expect({ ...before, ...after }).toEqual({ ...before, audit_event_count: events });
    expect(await world.management.newestEntry(account)).toEqual(newest);
    expect(world.upstream.requests.length).toBe(arrived);
    const answer = await postChat(world.front, secret, BODY);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  });
});

const SAYS = [{ role: "user", content: "Hello" }];
const CONTENTS = { contents: [{ role: "user", parts: [{ text: "Hello" }] }] };
interface Sent {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Json;
  readonly outputTokensMax?: number;
}
const SENT: readonly Sent[] = [
  { name: "a chat completion", path: "", body: { model: "fake-1", messages: SAYS } },
  { name: "a streamed one", path: "", body: { model: "fake-1", messages: SAYS, stream: true } },
  { name: "one at its own path", path: "/v1/chat/completions", body: { model: "fake-1", messages: SAYS } },
  {
    name: "Anthropic's messages by their header",
    path: "",
    body: { model: "fake-1", messages: SAYS, max_tokens: 77 },
    headers: { "anthropic-version": "2023-06-01" },
    outputTokensMax: 77,
  },
  {
    name: "Anthropic's messages by their path",
    path: "/v1/messages",
    body: { model: "fake-1", messages: SAYS, max_tokens: 77 },
    outputTokensMax: 77,
  },
  {
    name: "Gemini's contents",
    path: "/v1beta/models/fake-1:generateContent",
    body: { ...CONTENTS, generationConfig: { maxOutputTokens: 55 } },
    outputTokensMax: 55,
  },
  {
    name: "Gemini's, streamed",
    path: "/v1beta/models/fake-1:streamGenerateContent",
    body: CONTENTS,
  },
  {
    name: "the typed form",
    path: "",
    body: {
      generation: {
        model: "fake-1",
        prompt: { messages: [{ role: "user", parts: [{ text: { text: "Hello" } }] }] },
      },
    },
  },
  {
    name: "the typed form around a body",
    path: "",
    body: {
      generation: {
        source: {
          wire: "openai-chat",
          body: Buffer.from(JSON.stringify({ model: "fake-1", messages: SAYS })).toString("base64"),
        },
      },
    },
  },
];

describe.each(SWEPT_TOPOLOGIES)("in %s", (topology) => {
  let here: World;
  beforeAll(async () => {
    here = topology === "one process" ? world : await startWorld(topology);
  });
  afterAll(async () => {
    if (here !== world) await here.close();
  });

  test.each(SENT)("$name is estimated as it would be sent", async ({ path, body, headers, outputTokensMax = 1000 }) => {
    const response = await fetch(`${here.front.url}/api/v1/estimate${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${here.secret}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const told = (await response.json()) as Json;
    expect(response.status, JSON.stringify(told)).toBe(200);
    expect(response.headers.get("x-request-id")).toMatch(/\S/);
    expect(told).toMatchObject({ model: "fake-1", admitted: true, output_tokens_max: String(outputTokensMax) });
    const tokens = Number(told["input_tokens"]);
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(Number(told["input_tokens_max"]));
  });
});

describe("what is wrong with the request itself is refused", () => {
  let newest: unknown;
  beforeEach(async () => {
    newest = await world.management.newestEntry("acme");
  });
  test.each([
    { name: "no body", path: "", body: "", status: 400 },
    { name: "no JSON", path: "", body: "{", status: 400 },
    { name: "an empty object", path: "", body: {}, status: 400 },
    { name: "no messages", path: "", body: { model: "fake-1" }, status: 400 },
    { name: "an unknown model", path: "", body: { model: "none-1", messages: SAYS }, status: 404 },
    { name: "a negative limit", path: "", body: { ...BODY, max_tokens: -1 }, status: 400 },
    {
      name: "Anthropic's without a limit",
      path: "/v1/messages",
      body: { model: "fake-1", messages: SAYS },
      status: 400,
    },
    {
      name: "an unknown wire",
      path: "",
      body: { generation: { source: { wire: "none", body: "e30=" } } },
      status: 400,
    },
    { name: "a path that asks no model", path: "/v1/messages/count_tokens", body: BODY, status: 404 },
  ])("$name: $status", async ({ path, body, status }) => {
    const response = await post(path, body, world.secret);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expectEnvelope(text);
    expect(await world.management.newestEntry("acme")).toEqual(newest);
  });

  test("and so is a key that may not ask models", async () => {
    const { secret } = await world.management.makeKey("acme", { scopes: ["usage"] });
    for (const path of ["", "/v1/messages"]) {
      const response = await post(path, BODY, secret);
      expect(response.status).toBe(403);
      expectEnvelope(await response.text());
    }
    expect((await post("/v1/messages", BODY, "sk-nobody")).status).toBe(401);
  });
});
