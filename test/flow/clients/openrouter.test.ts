/** What OpenRouter's clients read about their key, their credit and a request, under both of their base URLs. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { until } from "../../support/http-server.js";

const SETTINGS = `
upstreams: { sim: { family: sim } }
models:
  priced:
    targets: [{ upstream: sim, model: sim-1 }]
    output_tokens_max: 1000
    price: { input: "100", output: "200" }
`;

let gateway: GatewayProcess;
let management: Management;
beforeAll(async () => {
  gateway = await startGateway({ settings: SETTINGS });
  management = new Management(gateway);
  await management.account("acme", 5_000_000_000n);
});
afterAll(() => gateway.stop());

interface Answer {
  readonly status: number;
  readonly body: { readonly data: Readonly<Record<string, unknown>>; readonly error: { readonly code: string } };
}

async function read(path: string, secret: string): Promise<Answer> {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${secret}` } });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

async function chat(secret: string): Promise<{ id: string; promptTokens: number; completionTokens: number }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "priced", messages: [{ role: "user", content: "Say hello." }], user: "u-7" }),
  });
  const { usage } = (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  const id = response.headers.get("x-request-id") ?? "";
  return { id, promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
}

describe.each(["/api/v1", "/v1"])("at %s", (base) => {
  test("the key shows its tightest budget, and what it spent", async () => {
    const settings = { name: "ci", budget_total: "3", budget_week: "1", budget_day: "2" };
    const { secret } = await management.makeKey("acme", settings);
    const { promptTokens, completionTokens } = await chat(secret);
    const spent = (promptTokens * 100 + completionTokens * 200) / 1_000_000;
    expect(spent).toBeGreaterThan(0);
    let shown = await read(`${base}/key`, secret);
    await until(() => {
      void read(`${base}/key`, secret).then((answer) => (shown = answer));
      const { usage_weekly: week, usage, limit_remaining: left } = shown.body.data;
      return week !== 0 && usage !== 0 && left === 1 - spent;
    }, "the request is settled");
    expect(shown.body.data).toMatchObject({
      label: expect.stringMatching(/^sk-\w+\.\.\.\w+$/),
      limit: 1,
      limit_remaining: 1 - spent,
      limit_reset: "weekly",
      usage: spent,
      usage_daily: spent,
      usage_weekly: spent,
      usage_monthly: spent,
      byok_usage: 0,
      include_byok_in_limit: false,
      is_free_tier: false,
      is_management_key: false,
      is_provisioning_key: false,
      expires_at: null,
      rate_limit: { requests: -1, interval: "10s" },
    });
    expect((await read(`${base}/auth/key`, secret)).body).toEqual(shown.body);
  });

  test("a key without a budget has no limit", async () => {
    const { secret } = await management.makeKey("acme");
    expect((await read(`${base}/key`, secret)).body.data).toMatchObject({
      limit: null,
      limit_remaining: null,
      limit_reset: null,
      usage: 0,
    });
  });

  test("the credit is that of the key's account", async () => {
    const { secret } = await management.makeKey("acme");
    const { grantedNanos, spentNanos } = await management.balance("acme");
    expect((await read(`${base}/credits`, secret)).body).toEqual({
      data: { total_credits: Number(grantedNanos) / 1e9, total_usage: Number(spentNanos) / 1e9 },
    });
  });

  test("a request is shown once it ended, to its own account", async () => {
    const { secret } = await management.makeKey("acme");
    const { id, promptTokens, completionTokens } = await chat(secret);
    let shown = await read(`${base}/generation?id=${id}`, secret);
    await until(() => {
      void read(`${base}/generation?id=${id}`, secret).then((answer) => (shown = answer));
      return shown.status === 200 && shown.body.data["latency"] !== null;
    }, "the request is settled");
    const cost = (promptTokens * 100 + completionTokens * 200) / 1_000_000;
    expect(shown.body.data).toMatchObject({
      id,
      model: "priced",
      provider_name: "sim",
      total_cost: cost,
      usage: cost,
      tokens_prompt: promptTokens,
      tokens_completion: completionTokens,
      native_tokens_prompt: promptTokens,
      native_tokens_completion: completionTokens,
      native_tokens_reasoning: 0,
      native_tokens_cached: 0,
      streamed: false,
      cancelled: false,
      latency: expect.any(Number),
      generation_time: expect.any(Number),
      api_type: "completions",
      external_user: "u-7",
      is_byok: false,
      finish_reason: null,
    });
    expect(Date.parse(String(shown.body.data["created_at"]))).toBeGreaterThan(0);
    await management.account(`other-${base.length}`, 0n);
    const { secret: foreign } = await management.makeKey(`other-${base.length}`);
    expect((await read(`${base}/generation?id=${id}`, foreign)).status).toBe(404);
    expect((await read(`${base}/generation?id=req_none`, secret)).status).toBe(404);
    expect((await read(`${base}/generation`, secret)).status).toBe(400);
  });

  test("a key without the scope is refused, and so is none", async () => {
    const { secret } = await management.makeKey("acme", { scopes: ["chat"] });
    for (const path of ["/key", "/credits", "/generation?id=req_1"]) {
      expect((await read(base + path, secret)).status).toBe(403);
      expect((await read(base + path, "sk-none")).status).toBe(401);
    }
  });
});
