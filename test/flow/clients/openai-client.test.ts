/** The official OpenAI client, unmodified, over both ways to the core. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { says, startWorld, TOPOLOGIES, type World } from "../../support/world.js";

const WEATHER = {
  type: "function" as const,
  function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

describe.each(TOPOLOGIES)("the official OpenAI client, %s", (topology) => {
  let world: World;
  let client: OpenAI;

  beforeAll(async () => {
    world = await startWorld(topology);
    client = world.client();
  });
  afterAll(() => world.close());

  test("lists the models, and shows one, slashes included", async () => {
    const ids = (await client.models.list()).data.map((model) => model.id);
    expect(ids).toEqual(["fake-1", "gone-1", "org/deep-1", "other-1"]);
    expect(await client.models.retrieve("fake-1")).toMatchObject({ id: "fake-1", object: "model" });
    expect(await client.models.retrieve("org/deep-1")).toMatchObject({ id: "org/deep-1" });
    const raw = await fetch(`${world.front.url}/v1/models/org/deep-1`, {
      headers: { authorization: `Bearer ${world.secret}` },
    });
    expect(await raw.json()).toMatchObject({ id: "org/deep-1" });
  });

  test("completes whole, with usage and its request id", async () => {
    const answer = await client.chat.completions.create({ model: "fake-1", messages: says("Hello") });
    expect(answer.choices[0]?.message.content).toBe("Hello from fake-1.");
    expect(answer.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 4 });
    expect(answer._request_id).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test("sends the upstream's own name of a model, and nothing of the client's key", async () => {
    const answer = await client.chat.completions.create({ model: "other-1", messages: says(script({ echo: true })) });
    const echoed: unknown = JSON.parse(answer.choices[0]?.message.content ?? "");
    expect(echoed).toMatchObject({
      body: { model: "renamed", max_tokens: 1000 },
      headers: { authorization: "Bearer sk-upstream-secret-0123456789" },
    });
    expect(JSON.stringify(echoed)).not.toContain(world.secret);
  });

  test("streams, with usage only on request", async () => {
    const plain = await collect(client, { messages: says("Hello") });
    expect(plain.text).toBe("Hello from fake-1.");
    expect(plain.usages).toEqual([]);
    const asked = await collect(client, { messages: says("Hello"), stream_options: { include_usage: true } });
    expect(asked.text).toBe("Hello from fake-1.");
    expect(asked.usages).toHaveLength(1);
    expect(asked.usages[0]).toMatchObject({ prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 });
  });

  test("makes the strict stream helper happy", async () => {
    const stream = client.chat.completions.stream({ model: "fake-1", messages: says("Hello") });
    expect(await stream.finalContent()).toBe("Hello from fake-1.");
  });

  test.each([false, true])("goes a round of a tool call, streamed: %s", async (streamed) => {
    const calls = [{ name: "weather", arguments: '{"city":"Ålesund"}' }];
    const body = { model: "fake-1", messages: says(script({ calls, finish: "tool_calls" })), tools: [WEATHER] };
    const message = streamed
      ? await client.chat.completions.stream(body).finalMessage()
      : (await client.chat.completions.create(body)).choices[0]!.message;
    const call = message.tool_calls?.[0];
    expect(call).toMatchObject({ type: "function", function: { name: "weather", arguments: '{"city":"Ålesund"}' } });
    const second = await client.chat.completions.create({
      model: "fake-1",
      tools: [WEATHER],
      messages: [
        ...says("How is the weather?"),
        message,
        { role: "tool", tool_call_id: call?.id ?? "", content: '{"sky":"blue"}' },
      ],
    });
    expect(second.choices[0]?.message.content).toBe("Hello from fake-1.");
    const arrived = world.upstream.requests.at(-1)?.body;
    expect(arrived).toMatchObject({ messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }] });
  });

  test("passes a JSON schema and an image through", async () => {
    const schema = {
      name: "city",
      strict: true,
      schema: { type: "object", properties: {}, additionalProperties: false },
    };
    const image = {
      type: "image_url" as const,
      image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" as const },
    };
    await client.chat.completions.create({
      model: "fake-1",
      response_format: { type: "json_schema", json_schema: schema },
      messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }],
    });
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: schema },
      messages: [{ content: [{ type: "text" }, image] }],
    });
  });

  test("answers twice with n: 2, whole and streamed", async () => {
    const whole = await client.chat.completions.create({ model: "fake-1", n: 2, messages: says("Hello") });
    expect(whole.choices.map((choice) => choice.index)).toEqual([0, 1]);
    const seen = new Set<number>();
    const stream = await client.chat.completions.create({ model: "fake-1", n: 2, stream: true, messages: says("Hi") });
    for await (const chunk of stream) for (const choice of chunk.choices) seen.add(choice.index);
    expect([...seen]).toEqual([0, 1]);
  });

  test("asks for logprobs, and gets the upstream's", async () => {
    const logprobs = { content: [{ token: "Hi", logprob: -0.25, bytes: [72, 105], top_logprobs: [] }], refusal: null };
    const choice = {
      index: 0,
      message: { role: "assistant", content: "Hi", refusal: null },
      logprobs,
      finish_reason: "stop",
    };
    const body = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [choice] });
    const answer = await client.chat.completions.create({
      model: "fake-1",
      logprobs: true,
      top_logprobs: 1,
      messages: says(script({ body })),
    });
    expect(answer.choices[0]?.logprobs).toEqual(logprobs);
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({ logprobs: true, top_logprobs: 1 });
  });

  test("aborts a stream, and the upstream notices", async () => {
    const held = await world.management.balance("acme");
    const text = script({ words: 500, eventDelayMs: 10 });
    const stream = await client.chat.completions.create({ model: "fake-1", stream: true, messages: says(text) });
    let chunks = 0;
    for await (const _ of stream) {
      chunks += 1;
      if (chunks === 5) stream.controller.abort();
    }
    await world.upstream.waitFor((request) => request.left && request.raw.includes("words"));
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    const after = await world.management.balance("acme");
    const paid = after.spentNanos - held.spentNanos;
    expect(paid).toBeGreaterThan(0n);
    expect(paid).toBeLessThan(100n * 100n);
  });

  test("retries what x-should-retry and retry-after say, and nothing else", async () => {
    const before = world.upstream.requests.length;
    const retrying = world.client({ maxRetries: 2 });
    const id = `${topology}-limit`;
    const once = script({ status: 429, times: 1, id, headers: { "retry-after-ms": "10" } });
    const answer = await retrying.chat.completions.create({ model: "fake-1", messages: says(once) });
    expect(answer.choices[0]?.message.content).toBe("Hello from fake-1.");
    expect(world.upstream.requests.length - before).toBe(2);
    const refused = retrying.chat.completions.create({ model: "fake-1", messages: says(script({ status: 400 })) });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    expect(world.upstream.requests.length - before).toBe(3);
  });

  test("leaves a ledger that holds", async () => {
    await world.management.verify();
  });
});

async function collect(
  client: OpenAI,
  body: Omit<OpenAI.ChatCompletionCreateParamsStreaming, "model" | "stream">,
): Promise<{ text: string; usages: unknown[] }> {
  const stream = await client.chat.completions.create({ model: "fake-1", stream: true, ...body });
  const usages: unknown[] = [];
  let text = "";
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    if (chunk.usage) usages.push(chunk.usage);
  }
  return { text, usages };
}
