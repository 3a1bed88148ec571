/** Families on OpenAI's wire: what each sends for one full request, and how the answers of each are read. */
import { describe, expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import type { Family } from "../../src/families/family.js";
import { tabledFacts } from "../../src/models/facts.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import type { OwnedFields, Wire } from "../../src/wire/wire.js";
import { EXPECTED, FULL, messagesWith } from "./chat-request.js";
import { toy } from "../support/toy-family.js";

const all: readonly Family[] = [...families, toy];

function named(name: string): Family {
  const family = all.find((known) => known.name === name);
  if (family === undefined) throw new Error(`no family '${name}'`);
  return family;
}

interface Sent {
  readonly body: Record<string, unknown>;
  readonly dropped: string[];
}

/** What the family's upstream gets for a client's body. */
function send(family: Family, model: string, body: object, wire: Wire = openAiChat, tokens?: number): Sent {
  const bytes = Buffer.from(JSON.stringify(body));
  const asked = wire.readRequest({ wire: wire.name, body: bytes, headers: {} });
  const { stream, candidateCount, outputTokensMax } = asked.facts;
  const facts = tabledFacts(model);
  const owned: OwnedFields = { model, facts, stream, candidateCount, outputTokensMax: tokens ?? outputTokensMax };
  const dropped: string[] = [];
  return { body: JSON.parse(family.wire.encodeRequest(asked, owned, family.dialect, dropped).toString()), dropped };
}

test("every family on the wire is in the table", () => {
  const onWire = families.filter((family) => family.wire.name === "openai-chat" && family.connect === undefined);
  expect(EXPECTED.map(({ name }) => name).sort()).toEqual(onWire.map(({ name }) => name).sort());
});

describe.each(EXPECTED)("$name", (want) => {
  const family = named(want.name);

  test("is reached at its address, with its key in its header", () => {
    expect((family.baseUrl ?? "http://there") + family.generatePath(want.model, true)).toBe(want.url);
    expect(family.headers("sk-own")).toEqual(want.headers);
  });

  test("gets an OpenAI client's request in its own words, and all else as it was", () => {
    const { body, dropped } = send(family, want.model, FULL);
    const left = Object.entries(FULL).filter(([key]) => !want.without.some((gone) => gone === key));
    expect(body).toEqual({
      ...Object.fromEntries(left),
      model: want.model,
      messages: messagesWith(want.messages),
      ...want.set,
    });
    expect(dropped).toEqual(want.dropped);
  });

  test("gets the same twice the same", () => {
    const once = send(family, want.model, FULL).body;
    const { stream_options: _, ...again } = send(family, want.model, { ...once, model: "asked" }).body;
    const { stream_options: __, ...first } = once;
    expect(again).toEqual(first);
  });
});

/** An Anthropic client's request: what it says has other names on this wire, whatever the family. */
const FROM_ANTHROPIC = {
  model: "asked",
  max_tokens: 3_000,
  system: "Be brief.",
  thinking: { type: "enabled", budget_tokens: 2_048 },
  tool_choice: { type: "any" },
  tools: [
    { name: "weather", input_schema: { type: "object" } },
    { name: "a.b", input_schema: { type: "object" } },
  ],
  messages: [
    { role: "user", content: "Rome?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Ask.", signature: "sig" },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "Sunny." }] },
  ],
};

describe("an Anthropic client's request", () => {
  const TOOLU_1 = "4838a0c25";
  test.each([
    {
      name: "deepseek",
      model: "deepseek-v4-pro",
      set: { thinking: { type: "enabled" }, reasoning_effort: "low", tool_choice: "auto" },
      assistant: { reasoning_content: "Ask." },
      dropped: ["tool_choice"],
    },
    { name: "mistral", model: "mistral-large", set: { tool_choice: "any" }, dropped: ["thinking"], id: TOOLU_1 },
    { name: "groq", model: "openai/gpt-oss-20b", set: { reasoning_effort: "low" }, assistant: { reasoning: "Ask." } },
    { name: "xai", model: "grok-4.20-non-reasoning", set: {}, dropped: ["thinking"] },
    {
      name: "qwen",
      model: "qwen3-32b",
      set: { enable_thinking: true, thinking_budget: 2048 },
      assistant: { reasoning_content: "Ask." },
    },
    {
      name: "moonshot",
      model: "kimi-k3",
      set: { reasoning_effort: "low" },
      assistant: { reasoning_content: "Ask." },
    },
    {
      name: "openrouter",
      model: "qwen/qwen3-32b",
      set: { reasoning: { max_tokens: 2048 } },
      assistant: { reasoning_details: [{ type: "reasoning.text", text: "Ask.", signature: "sig" }] },
    },
    { name: "azure", model: "prod", set: {}, dropped: ["thinking"] },
    { name: "ollama", model: "llama3", set: {}, dropped: ["thinking"], assistant: { reasoning: "Ask." } },
    {
      name: "vllm",
      model: "own",
      set: { chat_template_kwargs: { enable_thinking: true } },
      assistant: { reasoning: "Ask." },
    },
    {
      name: "llamacpp",
      model: "own",
      set: { chat_template_kwargs: { enable_thinking: true } },
      assistant: { reasoning_content: "Ask." },
    },
  ])("reaches $name", ({ name, model, set, assistant = {}, dropped = [], id = "toolu_1" }) => {
    const sent = send(named(name), model, FROM_ANTHROPIC, anthropic);
    const [turn, result] = (sent.body["messages"] as Record<string, unknown>[]).slice(-2);
    const calls = [{ id, type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }];
    expect(sent.body).toMatchObject({ tool_choice: "required", ...set });
    expect(turn).toEqual({ role: "assistant", content: null, tool_calls: calls, ...assistant });
    expect(result).toEqual({ role: "tool", tool_call_id: id, content: "Sunny." });
    expect(sent.dropped).toEqual(dropped);
  });

  test("brings a name that the wire refuses in another, always the same", () => {
    const tools = send(named("deepseek"), "deepseek-v4-pro", FROM_ANTHROPIC, anthropic).body["tools"];
    // printf a.b | sha256sum
    expect(tools).toMatchObject([{ function: { name: "weather" } }, { function: { name: "a_b_2e7336dc8eba" } }]);
  });
});

describe("what an upstream lacks", () => {
  const chat = { model: "asked", messages: [{ role: "user", content: "hi" }] };
  test.each([
    { name: "groq", body: { logprobs: true }, param: "logprobs" },
    { name: "groq", body: { n: 2 }, param: "n" },
    { name: "mistral", body: { logprobs: true, top_logprobs: 3 }, param: "logprobs" },
    { name: "mistral", body: { tools: [{ type: "custom", custom: { name: "c" } }] }, param: "tools[0]" },
    { name: "deepseek", body: { modalities: ["text", "audio"] }, param: "modalities" },
  ])("$name refuses $param, which changes the answer", ({ name, body, param }) => {
    expect(() => send(named(name), "m", { ...chat, ...body })).toThrow(
      expect.objectContaining({ reason: "ERROR_REASON_PARAMETER_UNSUPPORTED", param }),
    );
  });

  test.each([
    { name: "groq", body: { logit_bias: { 1: 5 } }, dropped: ["logit_bias"] },
    { name: "groq", body: { logprobs: false, n: 1, logit_bias: {} }, dropped: [] },
    { name: "mistral", body: { store: true, service_tier: "flex" }, dropped: ["store", "service_tier"] },
    { name: "mistral", body: { store: null, service_tier: "auto" }, dropped: [] },
  ])("$name leaves out $body, and says so where it is missed", ({ name, body, dropped }) => {
    const sent = send(named(name), "m", { ...chat, ...body });
    for (const key of Object.keys(body)) expect(sent.body).not.toHaveProperty(key);
    expect(sent.dropped.toSorted()).toEqual(dropped.toSorted());
  });

  test.each([
    { name: "deepseek", mode: "required", want: "required" },
    { name: "mistral", mode: "required", want: "any" },
    { name: "vllm", mode: "auto", want: "auto" },
  ])("$name is offered the allowed tools alone, $mode", ({ name, mode, want }) => {
    const tool = (called: string): object => ({ type: "function", function: { name: called, x_kept: 1.5 } });
    const tools = [tool("a"), tool("b"), tool("c")];
    const allowed = { mode, tools: [{ type: "function", function: { name: "b" } }] };
    const sent = send(named(name), "m", {
      ...chat,
      tools,
      tool_choice: { type: "allowed_tools", allowed_tools: allowed },
    });
    expect(sent.body).toMatchObject({ tools: [tool("b")], tool_choice: want });
  });

  test.each([
    { name: "mistral", want: { tool_choice: "auto" } },
    { name: "vllm", want: { tool_choice: "auto" } },
    { name: "gemini", want: { toolConfig: { functionCallingConfig: { mode: "AUTO" } } } },
  ])("$name is told 'validated' by the nearest word that it knows", ({ name, want }) => {
    const tools = [{ type: "function", function: { name: "a" } }];
    expect(send(named(name), "m", { ...chat, tools, tool_choice: "validated" }).body).toMatchObject(want);
  });

  test("a model that goes on with its own last message is told so", () => {
    const messages = [...chat.messages, { role: "assistant", content: "I" }];
    const last = (send(named("mistral"), "m", { ...chat, messages }).body["messages"] as object[]).at(-1);
    expect(last).toEqual({ role: "assistant", content: "I", prefix: true });
  });

  test("a message of the assistant's goes to Mistral with the members that it knows, and a refusal as its text", () => {
    const unknown = { annotations: [], parsed: null, content_parts: [], reasoning_details: [] };
    const messages = [
      ...chat.messages,
      { role: "assistant", content: "I do.", refusal: null, ...unknown },
      ...chat.messages,
      { role: "assistant", content: null, refusal: "I will not.", ...unknown },
      ...chat.messages,
    ];
    const sent = send(named("mistral"), "m", { ...chat, messages }).body["messages"] as object[];
    expect(sent.filter((message) => Reflect.get(message, "role") === "assistant")).toEqual([
      { role: "assistant", content: "I do." },
      { role: "assistant", content: "I will not." },
    ]);
  });

  test("turns of the assistant's without a thought say that they have none", () => {
    const messages = [...chat.messages, { role: "assistant", content: "I" }, ...chat.messages];
    const [, turn] = send(named("deepseek"), "deepseek-v4-pro", { ...chat, messages }).body["messages"] as object[];
    expect(turn).toEqual({ role: "assistant", content: "I", reasoning_content: "" });
  });
});

describe("refusals", () => {
  test.each([
    {
      name: "mistral",
      status: 422,
      body: { detail: [{ loc: ["body", "seed"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }] },
      want: { reason: "ERROR_REASON_UPSTREAM_REJECTED", message: "body.seed: Extra inputs are not permitted" },
    },
    {
      name: "mistral",
      status: 422,
      body: { object: "error", message: { detail: [{ loc: ["body", "n"], msg: "Too many" }] }, code: null },
      want: { reason: "ERROR_REASON_UPSTREAM_REJECTED", message: "body.n: Too many" },
    },
    {
      name: "vllm",
      status: 400,
      body: { object: "error", message: "This model's maximum context length is 10 tokens.", type: "Bad", code: 400 },
      want: { reason: "ERROR_REASON_CONTEXT_TOO_LONG" },
    },
    {
      name: "openrouter",
      status: 429,
      body: { error: { message: "Slow down", code: 429 } },
      want: { reason: "ERROR_REASON_UPSTREAM_RATE_LIMITED" },
    },
    {
      name: "deepseek",
      status: 402,
      body: { error: { message: "Insufficient Balance", type: "unknown_error", code: "invalid_request_error" } },
      want: { reason: "ERROR_REASON_UPSTREAM_CREDENTIAL" },
    },
    {
      name: "azure",
      status: 401,
      body: { error: { code: "401", message: "Access denied due to invalid subscription key" } },
      want: { reason: "ERROR_REASON_UPSTREAM_CREDENTIAL" },
    },
    {
      name: "ollama",
      status: 404,
      body: { error: { message: "model 'x' not found", type: "not_found_error", code: null } },
      want: { reason: "ERROR_REASON_UPSTREAM_FAILED" },
    },
  ])("$name's $status is $want.reason", ({ name, status, body, want }) => {
    const { message, ...others } = { message: undefined, metadata: {}, ...want };
    const error = named(name).wire.decodeError(status, {}, Buffer.from(JSON.stringify(body)), named(name).refusals);
    expect(error).toMatchObject({ reason: others.reason });
    expect(error.metadata).toMatchObject(others.metadata);
    if (message !== undefined) expect(error.metadata["message"]).toBe(message);
  });
});
