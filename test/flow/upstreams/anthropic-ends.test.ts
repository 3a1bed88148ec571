/** How answers of an Anthropic upstream end for OpenAI's official client: well, refused, failed, cut. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { type AnthropicScript, steer } from "../../support/fake-anthropic.js";

type Messages = OpenAI.ChatCompletionMessageParam[];

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

const says = (script: AnthropicScript | string): Messages => [
  { role: "user", content: typeof script === "string" ? script : steer(script) },
];

/** The same call, whole or through the strict helper of streams. */
async function ask(stream: boolean, messages: Messages, options: object = {}, model = "claude-opus-5"): Promise<void> {
  const body = { model, messages, ...options };
  if (stream) await world.chat.chat.completions.stream(body).finalChatCompletion();
  else await world.chat.chat.completions.create(body);
}

describe.each([
  { form: "whole", stream: false },
  { form: "streamed", stream: true },
])("$form", ({ stream }) => {
  test.each([
    {
      end: "a refusal",
      script: { blocks: [], stop: "refusal", stopDetails: { type: "refusal", category: "cyber", explanation: "No." } },
      want: { reason: "content_filter", content: "", refusal: "No." },
    },
    { end: "an empty answer", script: { blocks: [] }, want: { reason: "stop", content: "", refusal: "" } },
    {
      end: "a stop string",
      script: { blocks: [{ type: "text", text: "A" }], stop: "stop_sequence", stopSequence: "END" },
      want: { reason: "stop", content: "A", refusal: "" },
    },
    {
      end: "a length stop",
      script: { stop: "max_tokens" },
      want: { reason: "length", content: "Hello from claude-opus-5.", refusal: "" },
    },
    {
      end: "a full context",
      script: { stop: "model_context_window_exceeded" },
      want: { reason: "length", content: "Hello from claude-opus-5.", refusal: "" },
    },
    {
      end: "a pause",
      script: { stop: "pause_turn" },
      want: { reason: "stop", content: "Hello from claude-opus-5.", refusal: "" },
    },
  ])("$end", async ({ script, want }) => {
    // Read without the strict helper, which refuses such ends.
    const body = { model: "claude-opus-5", messages: says(script) };
    const got = { reason: "", content: "", refusal: "" };
    const take = (delta: { content?: string | null; refusal?: string | null } | undefined, reason: unknown): void => {
      got.content += delta?.content ?? "";
      got.refusal += delta?.refusal ?? "";
      if (typeof reason === "string") got.reason = reason;
    };
    if (stream)
      for await (const { choices } of await world.chat.chat.completions.create({ ...body, stream: true }))
        take(choices[0]?.delta, choices[0]?.finish_reason);
    else {
      const [choice] = (await world.chat.chat.completions.create(body)).choices;
      take(choice?.message, choice?.finish_reason);
    }
    expect(got).toEqual(want);
  });

  test.each([
    { param: "n", options: { n: 2 } },
    { param: "logprobs", options: { logprobs: true } },
    {
      param: "messages[0].content[0]",
      messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }] }],
    },
    {
      param: "messages[0].content[0].file.file_id",
      messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }],
    },
  ])("what changes the meaning is refused: $param", async ({ param, options = {}, messages = says("Hi") }) => {
    const before = world.upstream.requests.length;
    await expect(ask(stream, messages as Messages, options)).rejects.toMatchObject({ status: 400, param });
    expect(world.upstream.requests.length).toBe(before);
  });
});

const ERROR = (type: string, message = `Anthropic says ${type}.`): object => ({
  type: "error",
  error: { type, message },
});

test.each([
  {
    name: "bad credential",
    model: "refusing-claude-a",
    status: 401,
    type: "authentication_error",
    want: { status: 502, code: "upstream_credential" },
  },
  {
    name: "rate limit",
    model: "refusing-claude-b",
    status: 429,
    type: "rate_limit_error",
    want: { status: 429, code: "rate_limit_exceeded" },
  },
  {
    name: "overload",
    model: "refusing-claude-c",
    status: 529,
    type: "overloaded_error",
    want: { status: 503, code: "upstream_unavailable" },
  },
  {
    name: "empty account",
    model: "refusing-claude-d",
    status: 400,
    type: "invalid_request_error",
    message: "Your credit balance is too low.",
    want: { status: 502 },
  },
  {
    name: "too long input",
    model: "claude-opus-5",
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 9 tokens > 8 maximum",
    want: { status: 400, code: "context_length_exceeded" },
  },
  {
    name: "wrong request",
    model: "claude-opus-5",
    status: 400,
    type: "invalid_request_error",
    message: "messages.0.content: bad",
    want: { status: 400, param: "messages.0.content", message: "400 messages.0.content: bad" },
  },
  {
    name: "page of HTML",
    model: "refusing-claude-e",
    status: 502,
    html: "<html><body>Away</body></html>",
    want: { status: 502, code: "upstream_error" },
  },
])("an upstream's $name becomes OpenAI's error", async ({ model, status, type = "", message, html, want }) => {
  // Words that stand in the request would be the client's own.
  world.upstream.decide = () => ({ status, body: html ?? ERROR(type, message) });
  onTestFinished(() => void (world.upstream.decide = undefined));
  await expect(ask(false, says("Hi"), {}, model)).rejects.toMatchObject(want);
});

test.each([
  { name: "cut", script: { cutAfter: 5 } },
  { name: "ended without its end", script: { endAfter: 5 } },
  { name: "ended by an error", script: { errorAfter: { events: 5, type: "overloaded_error" } } },
])("a stream that is $name never looks complete", async ({ script }) => {
  const stream = await world.chat.chat.completions.create({
    model: "claude-opus-5",
    messages: says(script),
    stream: true,
  });
  const reasons: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const chunk of stream) reasons.push(chunk.choices[0]?.finish_reason);
  };
  await expect(read()).rejects.toThrow(OpenAI.APIError);
  expect(reasons.every((reason) => reason === null)).toBe(true);
});

test("a client that leaves ends the call at the upstream", async () => {
  const blocks = [{ type: "text", text: "word ".repeat(50) }];
  const stream = await world.chat.chat.completions.create({
    model: "claude-opus-5",
    messages: says({ blocks, delayMs: 20 }),
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  await expect.poll(() => world.upstream.requests.at(-1)?.left).toBe(true);
});

test("every call was charged once, and nothing stays held", async () => {
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  await world.management.verify();
});
