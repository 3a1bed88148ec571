/** Tools that an upstream would run, of models whose settings drop them: named, and neither held for nor charged. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeAnthropic, startFakeAnthropic } from "../../support/fake-anthropic.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

type Json = Readonly<Record<string, unknown>>;

const SEARCH = { type: "web_search_20250305", name: "web_search" };
const OWN = { name: "f", input_schema: { type: "object", properties: {} } };
/** What one search costs. */
const CALL_NANOS = 1_000_000_000n;
const MESSAGES = { max_tokens: 50, messages: [{ role: "user", content: "Hi" }] };

let chat: FakeUpstream;
let claude: FakeAnthropic;
let gateway: GatewayProcess;
let management: Management;
/** One account that could pay ten searches, and one that could not. */
const secrets = { rich: "", poor: "" };

beforeAll(async () => {
  [chat, claude] = await Promise.all([startFakeUpstream(), startFakeAnthropic()]);
  const rates = { input: 1, output: 1 };
  const bounds = { context_tokens: 100_000, output_tokens_max: 1_000 };
  const model = (upstream: string, more: Json): Json => ({ targets: [{ upstream }], ...bounds, price: rates, ...more });
  const settings = {
    upstreams: {
      chat: { family: "openai-compatible", base_url: chat.url, api_key: "sk-secret-of-this-test-0123456789" },
      claude: { family: "anthropic", base_url: claude.url, api_key: "sk-secret-of-this-test-0123456789" },
    },
    models: {
      crossed: model("chat", { hosted_tools: "drop", price: { ...rates, tools: { web_search: 1_000 } } }),
      own: model("claude", { hosted_tools: "drop" }),
      refusing: model("chat", { price: { ...rates, tools: { web_search: 1_000 } } }),
    },
  };
  gateway = await startGateway({ settings: JSON.stringify(settings) });
  management = new Management(gateway);
  await management.account("rich", 50_000_000_000n);
  await management.account("poor", 500_000_000n);
  for (const name of ["rich", "poor"] as const) secrets[name] = (await management.makeKey(name)).secret;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([chat.close(), claude.close()]);
});

interface Told {
  readonly status: number;
  readonly dropped: string | null;
  readonly text: string;
}

async function ask(path: string, body: Json, account: keyof typeof secrets = "poor"): Promise<Told> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${secrets[account]}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const dropped = response.headers.get("x-tollgate-dropped");
  return { status: response.status, dropped, text: await response.text() };
}

const lastOf = (model: string): Json => ((model === "own" ? claude : chat).requests.at(-1)?.body ?? {}) as Json;

/** Longer than the event loop reads. */
const LONG = "x ".repeat(200_000);

describe.each(["crossed", "own"])("of the model '%s'", (model) => {
  test.each([
    { name: "whole", more: {}, account: "poor" },
    { name: "streamed", more: { stream: true }, account: "poor" },
    // The hold of a long body covers the tool, and nothing is charged for it.
    { name: "long", more: { messages: [{ role: "user", content: LONG }] }, account: "rich" },
  ] as const)("it is left out and named: $name", async ({ more, account }) => {
    const before = await management.balance(account);
    const tools = [SEARCH, OWN];
    const choice = { tool_choice: { type: "tool", name: "web_search" } };
    const told = await ask("/v1/messages", { model, ...MESSAGES, ...more, tools, ...choice }, account);
    expect(told).toMatchObject({ status: 200, dropped: "tools.web_search" });
    expect(lastOf(model)["tools"]).toHaveLength(1);
    expect(JSON.stringify(lastOf(model))).not.toContain("web_search");
    // Nothing of a search is charged or left held.
    await expect.poll(async () => (await management.balance(account)).heldNanos).toBe(0n);
    expect((await management.balance(account)).spentNanos - before.spentNanos).toBeLessThan(CALL_NANOS);
  });

  test("tokens are counted without it", async () => {
    const counted = await ask("/v1/messages/count_tokens", { model, ...MESSAGES, tools: [SEARCH] });
    expect(counted.status).toBe(200);
  });
});

test("what clients offer unasked costs nothing where the upstream never got it", async () => {
  const tools = [{ type: "web_search" }];
  for (const model of ["crossed", "refusing"]) {
    const before = await management.balance("rich");
    const told = await ask("/v1/responses", { model, input: "Hi", max_output_tokens: 50, tools }, "rich");
    expect(told).toMatchObject({ status: 200, dropped: "tools.web_search" });
    await expect.poll(async () => (await management.balance("rich")).heldNanos).toBe(0n);
    expect((await management.balance("rich")).spentNanos - before.spentNanos).toBeLessThan(CALL_NANOS);
  }
});

test("without the setting it is refused by its name, where tokens are counted too", async () => {
  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    const told = await ask(path, { model: "refusing", ...MESSAGES, tools: [OWN, SEARCH] }, "rich");
    expect([told.status, told.text]).toEqual([400, expect.stringContaining("tools[1]")]);
  }
});
