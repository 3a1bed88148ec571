/** Clients see the limits of the operator's account at an upstream where its settings say so, and nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeAnthropic, startFakeAnthropic, steer } from "../../support/fake-anthropic.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const LIMITS = {
  "anthropic-ratelimit-unified-status": "allowed_warning",
  "anthropic-ratelimit-unified-5h-utilization": "0.91",
  "anthropic-ratelimit-unified-5h-reset": "1795953600",
};
const REST = {
  "anthropic-ratelimit-unified-note": "two words",
  "anthropic-ratelimit-tokens-limit": "8000",
  "anthropic-organization-id": "of-the-operator",
};

let upstream: FakeAnthropic;
let gateway: GatewayProcess;
let secret: string;

beforeAll(async () => {
  upstream = await startFakeAnthropic();
  const block = `family: anthropic, base_url: "${upstream.url}", api_key: sk-ant-of-this-test`;
  const rest = "context_tokens: 100000, output_tokens_max: 8000, price: free";
  const model = (...upstreams: string[]): string =>
    `{ targets: [${upstreams.map((name) => `{ upstream: ${name}, model: claude-opus-5 }`).join(", ")}], ${rest} }`;
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  told: { ${block}, unified_limits: pass }`,
      `  used-up: { ${block}, unified_limits: pass }`,
      `  hidden: { ${block} }`,
      "models:",
      `  told: ${model("told")}`,
      `  used-up: ${model("used-up")}`,
      `  hidden: ${model("hidden")}`,
      `  two: ${model("told", "hidden")}`,
      "",
    ].join("\n"),
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

async function unifiedLimitsOf(model: string, stream: boolean, status = 200): Promise<object> {
  const script = { headers: { ...LIMITS, ...REST }, ...(status === 200 ? {} : { status }) };
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": secret, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ model, stream, max_tokens: 100, messages: [{ role: "user", content: steer(script) }] }),
  });
  await answer.text();
  expect(answer.status).toBe(status);
  return Object.fromEntries([...answer.headers].filter(([name]) => /unified|organization|tokens-limit/.test(name)));
}

describe.each([{ stream: false }, { stream: true }])("of an answer, streamed: $stream", ({ stream }) => {
  test("they are told under Anthropic's names where the settings say so", async () => {
    expect(await unifiedLimitsOf("told", stream)).toMatchObject(LIMITS);
  });

  test.each(["hidden", "two"])("of the model '%s' nothing is told", async (model) => {
    expect(await unifiedLimitsOf(model, stream)).toEqual({});
  });
});

test("a refusal tells when the account may be used again", async () => {
  expect(await unifiedLimitsOf("used-up", false, 429)).toMatchObject(LIMITS);
});
