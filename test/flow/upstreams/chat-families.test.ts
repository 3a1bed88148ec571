/** Families on OpenAI's wire behind the real gateway: what reaches the upstream, and what comes back of it. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

let upstream: FakeUpstream;
/** What was asked of it. The gateway also reads what servers report, at any time. */
const posts = (): FakeUpstream["requests"] => upstream.requests.filter(({ method }) => method === "POST");
let gateway: GatewayProcess;
let chat: OpenAI;
let anthropic: Anthropic;
let strict: OpenAI;

const FAMILIES = ["deepseek", "mistral", "groq", "xai", "qwen", "moonshot", "openrouter", "azure", "vllm"];

/** Each family at the fake upstream, and a model of each with the name that stands here. */
const MODELS: Readonly<Record<string, string>> = {
  deepseek: "deepseek-v4-pro",
  mistral: "mistral-large",
  qwen: "qwq-plus",
  moonshot: "kimi-k2.6",
  azure: "prod-1",
};

function settings(facts = ""): string {
  const limits = "context_tokens: 100000, output_tokens_max: 8000, price: free";
  return [
    "upstreams:",
    ...FAMILIES.map(
      (name) => `  ${name}: { family: ${name}, base_url: "${upstream.url}", api_key: "sk-up-${name}-01" }`,
    ),
    "models:",
    ...FAMILIES.map((name) => {
      const target = `{ upstream: ${name}, model: ${MODELS[name] ?? "own"} }`;
      return `  ${name}-1: { targets: [${target}], ${limits}${name === "moonshot" ? facts : ""} }`;
    }),
    "",
  ].join("\n");
}

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: settings() });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  const { secret } = await management.makeKey("acme");
  chat = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
  const { secret: strictSecret } = await management.makeKey("acme", { strict: true });
  strict = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: strictSecret, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: secret, maxRetries: 0 });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

describe.each(FAMILIES)("%s", (name) => {
  const ask = { model: `${name}-1`, messages: [{ role: "user" as const, content: "hi" }] };
  const model = MODELS[name] ?? "own";
  const usage = script({ usage: "every" });

  test("answers an OpenAI client, whole and streamed", async () => {
    const whole = await chat.chat.completions.create(ask);
    expect(whole.choices[0]?.message.content).toBe(`Hello from ${model}.`);
    const stream = chat.chat.completions.stream({ ...ask, messages: [{ role: "user", content: usage }] });
    expect((await stream.finalChatCompletion()).choices[0]?.message.content).toBe(`Hello from ${model}.`);
  });

  test("answers an Anthropic client, whole and streamed", async () => {
    const request = { model: `${name}-1`, max_tokens: 50, messages: [{ role: "user" as const, content: usage }] };
    const told = [expect.objectContaining({ type: "text", text: `Hello from ${model}.` })];
    const whole = await anthropic.messages.create(request);
    expect(whole.content).toEqual(told);
    expect(whole.usage).toMatchObject({ input_tokens: 10, output_tokens: 4 });
    expect((await anthropic.messages.stream(request).finalMessage()).content).toEqual(told);
  });

  test("gets its own key in its own header", async () => {
    await chat.chat.completions.create(ask);
    const header = name === "azure" ? "api-key" : "authorization";
    expect(posts().at(-1)?.headers[header]).toMatch(new RegExp(`^(Bearer )?sk-up-${name}-01$`));
  });
});

test("a deployment is named in the path", async () => {
  await chat.chat.completions.create({ model: "azure-1", messages: [{ role: "user", content: "hi" }] });
  expect(posts().at(-1)?.url).toBe("/v1/openai/deployments/prod-1/chat/completions?api-version=2024-10-21");
});

test("a model that only streams is asked for a stream, and answers whole who wants it whole", async () => {
  const calls = [{ name: "weather", arguments: '{"city":"Rome"}' }];
  const content = script({ calls, thinking: "hm" });
  const whole = await chat.chat.completions.create({ model: "qwen-1", messages: [{ role: "user", content }] });
  expect(posts().at(-1)?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  expect(whole.object).toBe("chat.completion");
  expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
  expect(whole.choices[0]?.message.tool_calls).toMatchObject([{ function: { arguments: '{"city":"Rome"}' } }]);
  expect(whole.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 4 });
});

test("a stream that is cut is no whole answer either", async () => {
  const content = script({ words: 9, cutAfter: 3 });
  const asked = chat.chat.completions.create({ model: "qwen-1", messages: [{ role: "user", content }] });
  await expect(asked).rejects.toMatchObject({ status: 502 });
});

test("what an upstream lacks is left out and named", async () => {
  const messages = [{ role: "user" as const, content: "hi" }];
  const body = { model: "mistral-1", messages, seed: 7, user: "u-1", store: false };
  const { response } = await chat.chat.completions.create(body).withResponse();
  expect(response.headers.get("x-tollgate-dropped")).toBe("user");
  expect(posts().at(-1)?.body).toEqual({
    model: "mistral-large",
    messages,
    random_seed: 7,
    max_tokens: 8000,
  });
});

test("a strict key is refused what would be left out, before its upstream is asked", async () => {
  const messages = [{ role: "user" as const, content: "hi" }];
  const before = posts().length;
  const asked = strict.chat.completions.create({ model: "mistral-1", messages, user: "u-1", service_tier: "flex" });
  await expect(asked).rejects.toMatchObject({ status: 400, param: "user, service_tier" });
  expect(posts().length).toBe(before);
  const answer = await strict.chat.completions.create({ model: "mistral-1", messages, seed: 7 });
  expect(answer.choices[0]?.message.content).toBe("Hello from mistral-large.");
});

describe("facts of a model", () => {
  const ask: Anthropic.MessageCreateParamsNonStreaming = {
    model: "moonshot-1",
    max_tokens: 50,
    messages: [{ role: "user", content: "hi" }],
    tools: [{ name: "t", input_schema: { type: "object" } }],
    tool_choice: { type: "any" },
  };

  test("say what is asked of it, and the settings say otherwise from the next request on", async () => {
    const { response } = await anthropic.messages.create(ask).withResponse();
    expect(response.headers.get("x-tollgate-dropped")).toBe("tool_choice");
    expect(posts().at(-1)?.body).toMatchObject({
      tool_choice: "auto",
      messages: [{ role: "system", content: expect.stringContaining("must answer by calling") }, { role: "user" }],
    });
    gateway.writeSettings(settings(", facts: { forced_tools: true, images: false }"));
    await expect.poll(() => gateway.log.filter((line) => line.includes("settings reloaded")).length).toBe(1);
    const { response: later } = await anthropic.messages.create(ask).withResponse();
    expect(later.headers.get("x-tollgate-dropped")).toBeNull();
    expect(posts().at(-1)?.body).toMatchObject({ tool_choice: "required" });
  });

  test("a model that sees no pictures is shown none", async () => {
    const url = "data:image/png;base64,aGk=";
    const messages = [{ role: "user" as const, content: [{ type: "image_url" as const, image_url: { url } }] }];
    const before = posts().length;
    const asked = chat.chat.completions.create({ model: "moonshot-1", messages });
    await expect(asked).rejects.toMatchObject({ status: 400, param: "messages" });
    expect(posts().length).toBe(before);
  });
});
