/** What a request may ask for, end to end: members that nobody knows, and the bound of calls that is written. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { postChat, readAll } from "../../support/chat-call.js";
import { type FakeAnthropic, startFakeAnthropic } from "../../support/fake-anthropic.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

let fake: FakeUpstream;
let anthropic: FakeAnthropic;
let gateway: GatewayProcess;
let secret: string;

beforeAll(async () => {
  [fake, anthropic] = await Promise.all([startFakeUpstream(), startFakeAnthropic()]);
  const limits = "context_tokens: 100000, output_tokens_max: 1000";
  gateway = await startGateway({
    settings: `
upstreams:
  open: { family: openai-compatible, base_url: "${fake.url}" }
  strict: { family: openai-compatible, base_url: "${fake.url}", unknown_members: refuse }
  claude: { family: anthropic, base_url: "${anthropic.url}", api_key: "sk-ant-secret-of-this-test-012345" }
  exact:
    family: anthropic
    base_url: "${anthropic.url}"
    api_key: "sk-ant-secret-of-this-test-543210"
    unknown_members: refuse
models:
  open-1: { targets: [{ upstream: open }], ${limits}, price: free }
  strict-1: { targets: [{ upstream: strict }], ${limits}, price: free }
  exact-1: { targets: [{ upstream: exact, model: claude-opus-5 }], ${limits}, price: free }
  claude-opus-5:
    { targets: [{ upstream: claude }], ${limits}, price: { input: 1, output: 1, tools: { web_search: 10 } } }
`,
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([fake.close(), anthropic.close()]);
});

test("a member that nobody knows passes, and is counted and logged once", async () => {
  for (let call = 0; call < 2; call += 1) {
    const response = await postChat(gateway, secret, { model: "open-1", messages: says("Hello"), of_tomorrow: 1 });
    expect(response.status).toBe(200);
    await readAll(response);
  }
  expect(fake.requests.at(-1)?.body).toMatchObject({ of_tomorrow: 1 });
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toMatch(/^tollgate_unknown_members_total\{upstream="open",member="of_tomorrow"\} 2$/m);
  await expect.poll(() => gateway.log.filter((line) => line.includes('"of_tomorrow"')).length).toBe(1);
});

test("names that a tenant makes up without end leave the names of others their room", async () => {
  const management = new Management(gateway);
  await management.account("inventor", 100_000_000_000n);
  const inventor = await management.makeKey("inventor");
  const madeUp = (call: number): Json =>
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`made_up_${call}_${index}`, 1]));
  for (let call = 0; call < 20; call += 1) {
    const response = await postChat(gateway, inventor.secret, {
      model: "open-1",
      messages: says("Hello"),
      ...madeUp(call),
    });
    expect(response.status).toBe(200);
    await readAll(response);
  }
  await readAll(await postChat(gateway, secret, { model: "open-1", messages: says("Hello"), of_another_day: 1 }));
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toMatch(/^tollgate_unknown_members_total\{upstream="open",member="of_another_day"\} 1$/m);
  expect(metrics.match(/member="made_up_/g)).toHaveLength(32);
  expect(metrics).toMatch(/^tollgate_unknown_members_total\{upstream="open",member="\(others\)"\} 1168$/m);
});

test.each([false, true])("unknown_members: refuse takes no member that nobody knows, streamed: %s", async (stream) => {
  const before = fake.requests.length;
  const body = { model: "strict-1", messages: says("Hello"), stream };
  const response = await postChat(gateway, secret, { ...body, of_tomorrow: 1 });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param: "of_tomorrow" } });
  expect(fake.requests.length).toBe(before);
  const known = await postChat(gateway, secret, { ...body, temperature: 0.5 });
  expect(known.status).toBe(200);
  await readAll(known);
  expect(fake.requests.at(-1)?.body).toMatchObject({ temperature: 0.5 });
});

/** Asks for messages with values of `anthropic-beta`. */
async function askWithBetas(model: string, betas: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: {
      "x-api-key": secret,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": betas,
      "content-type": "application/json",
    },
    body: JSON.stringify({ model, messages: says("Hello"), max_tokens: 100 }),
  });
  return { status: response.status, text: await response.text() };
}

test("a beta that nobody knows passes, and is counted each time and logged at first sight", async () => {
  for (let call = 0; call < 2; call += 1)
    expect(await askWithBetas("claude-opus-5", "context-1m-2025-08-07,tomorrow-2031-01-01")).toMatchObject({
      status: 200,
    });
  expect(anthropic.requests.at(-1)?.headers["anthropic-beta"]).toBe("context-1m-2025-08-07,tomorrow-2031-01-01");
  const name = "anthropic-beta: tomorrow-2031-01-01";
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toContain(`tollgate_unknown_members_total{upstream="claude",member="${name}"} 2\n`);
  expect(metrics).not.toContain("context-1m");
  await gateway.logged(name);
  expect(gateway.log.filter((line) => line.includes(name))).toHaveLength(1);
});

test("unknown_members: refuse takes no beta that nobody knows, and those that are known", async () => {
  const before = anthropic.requests.length;
  const refused = await askWithBetas("exact-1", "context-1m-2025-08-07, tomorrow-2031-01-01");
  expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("anthropic-beta: tomorrow-2031-01-01") });
  expect(anthropic.requests.length).toBe(before);
  expect(await askWithBetas("exact-1", "context-1m-2025-08-07, fast-mode-2026-02-01")).toMatchObject({ status: 200 });
});

test.each([
  { name: "is written where the client sets none", asked: {}, want: 10 },
  { name: "of the client stays", asked: { max_uses: 3 }, want: 3 },
])("the bound of a hosted tool's calls $name", async ({ asked, want }) => {
  const tools = [{ type: "web_search_20250305", name: "web_search", ...asked }];
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": secret, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-opus-5", messages: says("Hello"), max_tokens: 100, tools }),
  });
  expect(response.status, await response.text()).toBe(200);
  const sent = anthropic.requests.at(-1)?.body["tools"] as readonly Json[];
  expect(sent).toEqual([{ type: "web_search_20250305", name: "web_search", max_uses: want }]);
});
