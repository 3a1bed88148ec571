/** Completions of a text: on models for chats as what a user says, and on models for texts as they came. */
import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type FakeGemini, startFakeGemini } from "../../support/fake-gemini.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

let fake: FakeUpstream;
let google: FakeGemini;
let gateway: GatewayProcess;
let management: Management;
let client: OpenAI;
let secret: string;

beforeAll(async () => {
  fake = await startFakeUpstream();
  google = await startFakeGemini();
  const limits = 'context_tokens: 1000, output_tokens_max: 100, price: { input: "0.01", output: "0.1" }';
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  fake: { family: openai-compatible, base_url: "${fake.url}" }`,
      `  google: { family: gemini, base_url: "${google.url}", api_key: AIza-of-this-test }`,
      "models:",
      `  chat-1: { targets: [{ upstream: fake }], ${limits} }`,
      `  gemini-2.5-flash: { targets: [{ upstream: google }], ${limits} }`,
      `  base-1: { targets: [{ upstream: fake, model: org/base }], kind: completion, ${limits} }`,
      "",
    ].join("\n"),
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 });
});
afterEach(() => {
  fake.override = undefined;
});
afterAll(async () => {
  await gateway.stop();
  await fake.close();
  await google.close();
});

test("a chat model answers whole, with usage, cost and a limit of sixteen tokens", async () => {
  const { data, response } = await client.completions.create({ model: "chat-1", prompt: "Hello" }).withResponse();
  expect(data).toMatchObject({
    object: "text_completion",
    model: "chat-1",
    choices: [{ text: "Hello from chat-1.", index: 0, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 },
  });
  expect(response.headers.get("x-tollgate-cost-nanos")).toBe("500");
  expect(fake.requests.at(-1)).toMatchObject({
    url: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "Hello" }], max_tokens: 16 },
  });
});

async function collect(asked: Omit<OpenAI.CompletionCreateParamsStreaming, "stream">): Promise<{
  texts: string[];
  finishes: unknown[];
  usages: unknown[];
}> {
  const texts: string[] = [];
  const finishes: unknown[] = [];
  const usages: unknown[] = [];
  for await (const chunk of await client.completions.create({ ...asked, stream: true })) {
    expect(chunk.object).toBe("text_completion");
    for (const { index, text, finish_reason: finish } of chunk.choices) {
      texts[index] = (texts[index] ?? "") + text;
      if (finish !== null) finishes.push(finish);
    }
    if (chunk.usage) usages.push(chunk.usage);
  }
  return { texts, finishes, usages };
}

test.each(["chat-1", "gemini-2.5-flash"])("%s answers as a stream, with usage where it is asked", async (model) => {
  const prompt = "Hello";
  const plain = await collect({ model, prompt });
  expect(plain.texts[0]).toMatch(/^Hello/);
  expect(plain).toMatchObject({ finishes: ["stop"], usages: [] });
  const asked = await collect({ model, prompt, stream_options: { include_usage: true } });
  expect(asked.usages).toMatchObject([{ prompt_tokens: 10, completion_tokens: 4 }]);
});

test("several answers to one prompt come by their index", async () => {
  const { texts, finishes } = await collect({ model: "chat-1", prompt: "Hello", n: 3 });
  expect(texts).toEqual(["Hello from chat-1.", "Hello from chat-1.", "Hello from chat-1."]);
  expect(finishes).toHaveLength(3);
});

test.each([
  { param: "prompt", body: { prompt: ["a", "b"] } },
  { param: "prompt", body: { prompt: [1, 2] } },
  { param: "suffix", body: { prompt: "a", suffix: "b" } },
  { param: "echo", body: { prompt: "a", echo: true } },
  { param: "best_of", body: { prompt: "a", best_of: 3 } },
])("a chat model refuses $body and costs nothing", async ({ param, body }) => {
  const before = fake.requests.length;
  const asked = client.completions.create({ model: "chat-1", ...body });
  await expect(asked).rejects.toMatchObject({ status: 400, param, code: "unsupported_parameter" });
  expect(fake.requests).toHaveLength(before);
  expect((await management.balance("acme")).heldNanos).toBe(0n);
});

test("an upstream that is cut or fails never looks complete", async () => {
  const cut = collect({ model: "chat-1", prompt: script({ words: 50, cutAfter: 20 }) });
  await expect(cut).rejects.toThrow();
  const failed = collect({ model: "chat-1", prompt: script({ words: 50, errorAfter: 20 }) });
  await expect(failed).rejects.toThrow();
});

const WHOLE = JSON.stringify({
  id: "cmpl-1",
  object: "text_completion",
  created: 5,
  model: "org/base",
  choices: ["one", "two"].map((text, index) => ({ text, index, logprobs: null, finish_reason: "length", x: 1.5 })),
  usage: { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 },
});

test("a model for texts gets what a chat cannot answer, and its answer comes as it is", async () => {
  fake.override = { body: WHOLE };
  const asked = { prompt: ["a", "b"], suffix: "z", echo: true, top_k: 3 };
  const response = await fetch(`${gateway.url}/v1/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "base-1", ...asked }),
  });
  expect(await response.text()).toBe(WHOLE.replace('"org/base"', '"base-1"'));
  expect(response.headers.get("x-tollgate-cost-nanos")).toBe(String(6 * 10 + 2 * 100));
  expect(fake.requests.at(-1)).toMatchObject({
    url: "/v1/completions",
    body: { model: "org/base", max_tokens: 16, ...asked },
  });
});

test("a model for texts streams, without the usage that nobody asked for, and is charged by it", async () => {
  const chunk = (members: object): string =>
    `data: ${JSON.stringify({ id: "cmpl-1", object: "text_completion", created: 5, model: "org/base", ...members })}\n\n`;
  const text = (said: string, finish: string | null): object => ({
    choices: [{ text: said, index: 0, logprobs: null, finish_reason: finish }],
    usage: null,
  });
  const usage = { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 };
  const events = [text("one", null), text(" two", "length"), { choices: [], usage }].map(chunk).join("");
  fake.override = { streamText: `${events}data: [DONE]\n\n` };
  const before = await management.balance("acme");
  expect(await collect({ model: "base-1", prompt: "a" })).toEqual({
    texts: ["one two"],
    finishes: ["length"],
    usages: [],
  });
  expect((await collect({ model: "base-1", prompt: "a", stream_options: { include_usage: true } })).usages).toEqual([
    usage,
  ]);
  await expect
    .poll(async () => (await management.balance("acme")).spentNanos - before.spentNanos)
    .toBe(2n * (6n * 10n + 2n * 100n));
  await management.verify();
});

test("each kind of model is asked for its own", async () => {
  const messages = [{ role: "user" as const, content: "hi" }];
  const chat = client.chat.completions.create({ model: "base-1", messages });
  await expect(chat).rejects.toMatchObject({ status: 400, param: "model" });
  await expect(client.embeddings.create({ model: "base-1", input: "x" })).rejects.toMatchObject({
    status: 400,
    param: "model",
  });
  await expect(client.completions.create({ model: "nope", prompt: "x" })).rejects.toMatchObject({ status: 404 });
});
