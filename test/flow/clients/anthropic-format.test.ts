/** What Anthropic's client format promises around its messages: versions, counts, models, refusals, streams, cost. */
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { steer } from "../../support/fake-anthropic.js";
import { script } from "../../support/fake-upstream.js";
import { checkGrammar, told } from "../../wire/anthropic/reading.js";

type Params = Anthropic.MessageCreateParamsNonStreaming;

const WEATHER: Anthropic.Tool = { name: "weather", input_schema: { type: "object" } };

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

const says = (text: string): Anthropic.MessageParam[] => [{ role: "user", content: text }];

const TOO_LONG = JSON.stringify({
  error: {
    message: "This model's maximum context length is 8 tokens. However, your messages resulted in 9 tokens.",
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  },
});

test("version and trials reach an upstream of the wire byte for byte, and stand-in thoughts do not", async () => {
  const headers = {
    authorization: `Bearer ${world.secret}`,
    "anthropic-version": "2026-10-21",
    "anthropic-beta": "claude-code-20250219, x-unknown-2026-01-01",
  };
  const standIn = { type: "thinking", thinking: "Hmm.", signature: "tollgate.thought" };
  const body = {
    model: "claude-opus-5",
    max_tokens: 100,
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [standIn, { type: "text", text: "Hello" }] },
      { role: "user", content: "So?" },
    ],
  };
  const response = await world.post("/v1/messages?beta=true", body, headers);
  expect(response.status).toBe(200);
  expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  const received = world.upstream.requests.at(-1)!;
  expect(received.headers).toMatchObject({
    "anthropic-version": headers["anthropic-version"],
    "anthropic-beta": headers["anthropic-beta"],
  });
  expect(received.headers).not.toHaveProperty("authorization");
  expect(received.raw).toBe(JSON.stringify(body).replace(`${JSON.stringify(standIn)},`, ""));
});

test("tokens are counted by the upstream where it counts, and estimated elsewhere", async () => {
  const body = { messages: says("How long is this?"), system: "Brief.", tools: [WEATHER] };
  const exact = await world.anthropic.messages.countTokens({ model: "org/renamed", ...body }).withResponse();
  expect(exact.data).toEqual({ input_tokens: 17 });
  expect(exact.response.headers.get("x-tollgate-token-count")).toBe("exact");
  expect(world.upstream.requests.at(-1)).toMatchObject({
    url: "/v1/messages/count_tokens",
    body: { model: "claude-opus-5", ...body },
  });
  const estimated = await world.older.messages.countTokens({ model: "fake-1", ...body } as never).withResponse();
  expect(estimated.data.input_tokens).toBeGreaterThan(10);
  expect(estimated.data.input_tokens).toBeLessThan(100);
  expect(estimated.response.headers.get("x-tollgate-token-count")).toBe("estimated");
});

test("the models are listed as the client reads them", async () => {
  const ids: string[] = [];
  for await (const model of world.anthropic.models.list({ limit: 5 })) {
    expect(model).toMatchObject({ type: "model", display_name: model.id, created_at: expect.stringMatching(/Z$/) });
    ids.push(model.id);
  }
  expect(ids).toContain("claude-opus-5");
  expect(await world.older.models.retrieve("org/renamed")).toMatchObject({ id: "org/renamed", type: "model" });
});

describe("refusals in the wire's envelope", () => {
  const ok = { model: "fake-1", max_tokens: 10, messages: says("Hi") };
  test.each([
    { name: "a bad key", options: { apiKey: "sk-bad" }, body: ok, want: { status: 401, type: "authentication_error" } },
    { name: "an unknown model", body: { ...ok, model: "gpt-9" }, want: { status: 404, type: "not_found_error" } },
    {
      name: "no limit of the output",
      body: { ...ok, max_tokens: undefined },
      want: { status: 400, type: "invalid_request_error" },
    },
    { name: "a wrong value", body: { ...ok, temperature: 2 }, want: { status: 400, type: "invalid_request_error" } },
    {
      name: "sampling in the newest version",
      body: { ...ok, temperature: 1 },
      want: { status: 400, type: "invalid_request_error" },
    },
    {
      name: "a file of Anthropic's",
      body: {
        ...ok,
        messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "file_1" } }] }],
      },
      want: { status: 400, type: "invalid_request_error" },
    },
    {
      name: "a warm cache elsewhere",
      body: { ...ok, max_tokens: 0 },
      want: { status: 400, type: "invalid_request_error" },
    },
    {
      name: "a rate limit upstream",
      body: { ...ok, model: "refusing-fake-a", messages: says(script({ status: 429 })) },
      want: { status: 429, type: "rate_limit_error" },
    },
    {
      name: "an overload upstream",
      body: { ...ok, model: "refusing-fake-b", messages: says(script({ status: 503 })) },
      want: { status: 529, type: "overloaded_error" },
    },
    {
      name: "a bad credential upstream",
      body: { ...ok, model: "refusing-fake-c", messages: says(script({ status: 401 })) },
      want: { status: 502, type: "api_error" },
    },
    {
      name: "an overload of Anthropic's",
      body: {
        ...ok,
        model: "refusing-claude-f",
        messages: says(
          steer({ status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } }),
        ),
      },
      want: { status: 529, type: "overloaded_error" },
    },
    {
      name: "a long input",
      body: {
        ...ok,
        messages: says(
          script({
            status: 400,
            body: TOO_LONG,
          }),
        ),
      },
      want: { status: 400, message: expect.stringContaining("prompt is too long: 9 tokens > 8 maximum") },
    },
  ])("$name", async ({ options = {}, body, want }) => {
    const error: unknown = await world.anthropic
      .withOptions(options)
      .messages.create(body as Params)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ ...want, requestID: expect.stringMatching(/^req_/) });
    const { error: envelope, requestID } = error as InstanceType<typeof Anthropic.APIError>;
    expect(envelope).toMatchObject({ type: "error", error: { message: expect.any(String) }, request_id: requestID });
  });

  test("an unknown path, for who says the version", async () => {
    const response = await world.post("/v1/v1/messages", ok);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { type: "not_found_error", message: expect.stringContaining("/v1/messages") },
    });
  });
});

test.each([
  { name: "cut", fake: { words: 9, cutAfter: 5 }, model: "fake-1" },
  { name: "ended without its end", fake: { words: 9, endAfter: 5 }, model: "fake-1" },
  { name: "ended by an error", fake: { words: 9, errorAfter: 5 }, model: "fake-1" },
  { name: "cut on its own wire", fake: { cutAfter: 5 }, model: "claude-opus-5" },
  {
    name: "ended by an error on its own wire",
    fake: { errorAfter: { events: 5, type: "overloaded_error" } },
    model: "claude-opus-5",
  },
])("a stream that is $name never looks complete", async ({ fake, model }) => {
  const messages = says(JSON.stringify({ fake }));
  const response = await world.post("/v1/messages", { model, max_tokens: 100, stream: true, messages });
  const text = await response.text();
  const types = told(text).map(({ type }) => type);
  expect(types[0]).toBe("message_start");
  expect(types).not.toContain("message_stop");
  expect(types.at(-1)).toBe("error");
  await expect(world.anthropic.messages.stream({ model, max_tokens: 100, messages }).finalMessage()).rejects.toThrow(
    Anthropic.APIError,
  );
});

test("an error before the first event is a real status, though the upstream told it in a stream", async () => {
  const messages = says(steer({ errorAfter: { events: 0, type: "overloaded_error" } }));
  const response = await world.post("/v1/messages", {
    model: "refusing-claude-g",
    max_tokens: 9,
    stream: true,
    messages,
  });
  expect(response.status).toBe(529);
});

test("a stream keeps the grammar, whatever the upstream sent", async () => {
  for (const fake of [{}, { text: "" }, { thinking: "Hmm.", pieceBytes: 3 }, { usage: "none" }, { usage: "every" }]) {
    const messages = says(JSON.stringify({ fake }));
    const response = await world.post("/v1/messages", { model: "fake-1", max_tokens: 100, stream: true, messages });
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    checkGrammar(await response.text());
  }
});

test("a translated stream begins with the tokens of its hold, and ends with those that were used", async () => {
  const messages = says("How long is this, and how long is that?");
  const body = { model: "fake-1", messages, system: "Be brief.", max_tokens: 100, stream: true };
  const estimate = await world.post("/api/v1/estimate/v1/messages", body);
  const held = (await estimate.json()) as { input_tokens_max: string };
  const events = told(await (await world.post("/v1/messages", body)).text());
  const usageOf = (type: string): unknown => {
    const event = events.find((one) => one.type === type) ?? {};
    return Reflect.get(Object(Reflect.get(event, "message") ?? event), "usage");
  };
  expect(Number(held.input_tokens_max)).toBeGreaterThan(10);
  expect(usageOf("message_start")).toMatchObject({ input_tokens: Number(held.input_tokens_max) });
  // What the fake upstream reports, whatever it was asked.
  expect(usageOf("message_delta")).toMatchObject({ input_tokens: 10 });
});

test("the cost is the same whichever client asked", async () => {
  const spend = async (act: () => Promise<unknown>): Promise<bigint> => {
    const before = (await world.management.balance("acme")).spentNanos;
    await act();
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    return (await world.management.balance("acme")).spentNanos - before;
  };
  for (const model of ["fake-1", "claude-opus-5"]) {
    const body = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "Hi" }] };
    const costs = [
      await spend(() => world.anthropic.messages.create(body)),
      await spend(() => world.anthropic.messages.stream(body).finalMessage()),
      await spend(() => world.chat.chat.completions.create(body)),
      await spend(() => world.chat.chat.completions.stream(body).finalChatCompletion()),
    ];
    expect(costs).toEqual([500n, 500n, 500n, 500n]);
  }
  await world.management.verify();
});
