/** An address that a server of one's own would fetch leaves only where the settings of its upstream say so. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

let fake: FakeUpstream;
let gateway: GatewayProcess;
let secret: string;

beforeAll(async () => {
  fake = await startFakeUpstream();
  const limits = "context_tokens: 10000000, output_tokens_max: 100, price: free";
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  own: { family: openai-compatible, base_url: "${fake.url}" }`,
      `  hosted: { family: openai-compatible, base_url: "${fake.url}", media_addresses: pass }`,
      `  led-home: { family: openai, base_url: "${fake.url}", api_key: sk-of-this-test, media_addresses: refuse }`,
      "models:",
      `  own-1: { targets: [{ upstream: own }], ${limits} }`,
      `  hosted-1: { targets: [{ upstream: hosted }], ${limits} }`,
      `  led-home-1: { targets: [{ upstream: led-home }], ${limits} }`,
      "",
    ].join("\n"),
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

const LONG = "word ".repeat(400_000);

test.each([
  { model: "own-1", text: "What is this?", status: 400 },
  // Long bodies are written beside the event loop.
  { model: "own-1", text: LONG, status: 400 },
  { model: "led-home-1", text: "What is this?", status: 400 },
  { model: "hosted-1", text: "What is this?", status: 200 },
  { model: "hosted-1", text: LONG, status: 200 },
])("$model is answered $status where a request names a picture", async ({ model, text, status }) => {
  const before = fake.requests.length;
  const url = "http://169.254.169.254/latest/x.png";
  const content = [
    { type: "text", text },
    { type: "image_url", image_url: { url } },
  ];
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  expect(answer.status).toBe(status);
  const told = (await answer.json()) as { readonly error?: { readonly param: string; readonly message: string } };
  expect(fake.requests.length - before).toBe(status === 200 ? 1 : 0);
  if (status === 200) return;
  expect(told.error?.param).toBe("messages[0].content[1].image_url.url");
  expect(told.error?.message).toContain("data:...");
});
