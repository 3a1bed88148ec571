/** Gemini on Google's cloud, end to end: the project's address, and a token in place of a key. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeGemini, startFakeGemini, steer } from "../../support/fake-gemini.js";
import { type FakeGoogleToken, startFakeGoogleToken } from "../../support/fake-google-token.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const PROJECT = "/v1/projects/my-project/locations/us-central1";
const MODEL = `${PROJECT}/publishers/google/models/gemini-2.5-flash`;

let tokens: FakeGoogleToken;
let google: FakeGemini;
let gateway: GatewayProcess;
let client: OpenAI;

beforeAll(async () => {
  tokens = await startFakeGoogleToken();
  google = await startFakeGemini();
  const keyFile = join(mkdtempSync(join(tmpdir(), "tollgate-key-")), "key.json");
  writeFileSync(keyFile, tokens.key);
  const limits = 'context_tokens: 1000, output_tokens_max: 100, price: { input: "0.01", output: "0.1" }';
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  cloud: { family: vertex, base_url: "${google.url}${PROJECT}", api_key: "${keyFile}" }`,
      `models: { gemini-2.5-flash: { targets: [{ upstream: cloud }], ${limits} } }`,
      "",
    ].join("\n"),
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const { secret } = await management.makeKey("acme");
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
});
afterAll(async () => {
  await gateway.stop();
  await google.close();
  await tokens.close();
});

function ask(content: string): Promise<OpenAI.ChatCompletion> {
  return client.chat.completions.create({ model: "gemini-2.5-flash", messages: [{ role: "user", content }] });
}

test("while no token comes, the upstream is not asked, and the client hears nothing of the key", async () => {
  tokens.refuses = true;
  const refusal = await ask("hi").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status: 502, code: "upstream_error" });
  expect(String(refusal)).not.toMatch(/invalid_grant|PRIVATE|gateway@test/);
  expect(gateway.log.join("\n")).not.toMatch(/PRIVATE KEY|assertion/);
  expect(google.requests).toHaveLength(0);
  tokens.refuses = false;
});

test("a chat is answered whole and streamed, under the project's address, with one token", async () => {
  await expect.poll(() => ask("hi").catch(() => undefined)).toBeDefined();
  expect(google.requests.at(-1)).toMatchObject({
    url: `${MODEL}:generateContent`,
    headers: { authorization: "Bearer token-1" },
  });
  const stream = await client.chat.completions.create({
    model: "gemini-2.5-flash",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
  });
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  expect(text).not.toBe("");
  expect(google.requests.at(-1)).toMatchObject({
    url: `${MODEL}:streamGenerateContent?alt=sse`,
    headers: { authorization: "Bearer token-1" },
  });
  expect(google.requests.at(-1)?.headers).not.toHaveProperty("x-goog-api-key");
  expect(tokens.given).toBe(1);
});

test("Google's refusals are told as ever", async () => {
  const body = { error: { code: 400, message: "Too many tokens.", status: "INVALID_ARGUMENT" } };
  await expect(ask(steer({ status: 400, body }))).rejects.toMatchObject({ status: 400 });
});
