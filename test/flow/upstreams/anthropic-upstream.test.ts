/** OpenAI's official client on an Anthropic upstream: every feature, whole and streamed. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROOF } from "../../support/anthropic-rules.js";
import { ANTHROPIC_SECRET, type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { type AnthropicScript, steer } from "../../support/fake-anthropic.js";

type Messages = OpenAI.ChatCompletionMessageParam[];
type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string; reasoning_details?: unknown };

const WEATHER = {
  type: "function" as const,
  function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};
const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const OSLO = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } };
const NOTHING = { type: "tool_use", id: "toolu_2", name: "weather", input: {} };
const THOUGHT = { type: "thinking", thinking: "Hmm, let me see.", signature: `${PROOF}abc+/==` };

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

const says = (script: AnthropicScript | string): Messages => [
  { role: "user", content: typeof script === "string" ? script : steer(script) },
];

interface Answer {
  readonly message: Message;
  readonly calls: OpenAI.ChatCompletionMessageFunctionToolCall[];
  readonly finish: string;
  readonly usage: OpenAI.CompletionUsage | undefined;
  readonly created: number;
}

/** The same call, whole or through the strict helper of streams. */
async function ask(
  stream: boolean,
  messages: Messages,
  options: object = {},
  model = "claude-opus-5",
): Promise<Answer> {
  const body = { model, messages, ...options };
  const completion = stream
    ? await world.chat.chat.completions
        .stream({ ...body, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await world.chat.chat.completions.create(body);
  const [choice] = completion.choices;
  return {
    message: choice!.message,
    calls: (choice!.message.tool_calls ?? []) as Answer["calls"],
    finish: choice!.finish_reason,
    usage: completion.usage,
    created: completion.created,
  };
}

type Sent = Record<string, unknown> & { messages: { role: string; content: Record<string, unknown>[] }[] };
const sent = (): Sent => world.upstream.requests.at(-1)!.body as never;

describe.each([
  { form: "whole", stream: false },
  { form: "streamed", stream: true },
])("$form", ({ stream }) => {
  test("text, system, settings and usage", async () => {
    const messages: Messages = [
      { role: "system", content: "Be brief." },
      { role: "developer", content: "And kind." },
    ];
    const usage = {
      input_tokens: 20,
      cache_read_input_tokens: 10,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 5 },
    };
    const options = { stop: ["END"], seed: 7, max_completion_tokens: 50, user: "u", temperature: 0.5 };
    const answer = await ask(stream, [...messages, ...says({ usage })], options);
    expect(answer).toMatchObject({ message: { content: "Hello from claude-opus-5." }, finish: "stop" });
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(600);
    expect(answer.usage).toMatchObject({
      prompt_tokens: 30,
      completion_tokens: 9,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    const { stream: asked, ...body } = sent();
    expect(asked).toBe(stream || undefined);
    expect(body).toEqual({
      model: "claude-opus-5",
      max_tokens: 50,
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "And kind." },
      ],
      messages: [{ role: "user", content: [{ type: "text", text: expect.any(String) }] }],
      stop_sequences: ["END"],
      metadata: { user_id: "u" },
    });
    expect(world.upstream.requests.at(-1)?.headers).toMatchObject({
      "x-api-key": ANTHROPIC_SECRET,
      "anthropic-version": "2023-06-01",
    });
  });

  test("what has no place is left out and told; an older model takes its sampling", async () => {
    const body = { model: "claude-opus-5", messages: says("Hi"), temperature: 0.5, seed: 7, logit_bias: { "1": 5 } };
    const { response } = stream
      ? await world.chat.chat.completions.create({ ...body, stream: true }).withResponse()
      : await world.chat.chat.completions.create(body).withResponse();
    expect(response.headers.get("x-tollgate-dropped")).toBe("temperature, seed, logit_bias");
    if (stream) await response.body?.cancel();
    await ask(stream, says("Hi"), { temperature: 1.5, top_p: 0.5 }, "claude-sonnet-4-5");
    expect(sent()).toMatchObject({ temperature: 1, max_tokens: 8000 });
    expect(sent()).not.toHaveProperty("top_p");
  });

  test("one tool, two at once, and one without arguments", async () => {
    for (const blocks of [[OSLO], [{ type: "text", text: "I look." }, OSLO, NOTHING]]) {
      const { calls, finish, message } = await ask(stream, says({ blocks }), {
        tools: [WEATHER],
        tool_choice: "required",
        parallel_tool_calls: false,
      });
      const uses = blocks.filter(({ type }) => type === "tool_use");
      expect(calls.map(({ id, function: called }) => [id, JSON.parse(called.arguments)])).toEqual(
        uses.map((use) => [Reflect.get(use, "id"), Reflect.get(use, "input")]),
      );
      expect(message.content ?? "").toBe(uses.length < blocks.length ? "I look." : "");
      expect(finish).toBe("tool_calls");
    }
    expect(sent()).toMatchObject({
      tools: [{ name: "weather", input_schema: WEATHER.function.parameters }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
    });
  });

  test("a model that cannot be forced is asked in words", async () => {
    const choice = { type: "function", function: { name: "weather" } };
    const other = { type: "function", function: { name: "other" } };
    await ask(stream, says("Hi"), { tools: [WEATHER, other], tool_choice: choice }, "claude-opus-5-5");
    expect(sent()).toMatchObject({
      tool_choice: { type: "auto" },
      system: [{ text: expect.stringContaining("weather") }],
    });
    expect(await ask(stream, says("Hi"), { reasoning_effort: "none" }, "claude-opus-5-5")).toMatchObject({});
    expect(sent()).toMatchObject({ output_config: { effort: "low" } });
  });

  test("a loop of three turns with thinking, whose proofs come back as they were", async () => {
    const messages = says({ blocks: [THOUGHT, OSLO, NOTHING] });
    for (let turn = 0; turn < 3; turn++) {
      const { message, calls } = await ask(stream, messages, { tools: [WEATHER], reasoning_effort: "high" });
      const { thinking, signature } = THOUGHT;
      // The helper of streams keeps the last piece of what it does not know, so the proof's piece tells it all.
      if (!stream) expect(message.reasoning_content).toBe(thinking);
      expect(message.reasoning_details).toEqual([{ type: "reasoning.text", text: thinking, signature, index: 0 }]);
      messages.push(message);
      for (const { id } of calls.toReversed())
        messages.push({ role: "tool", tool_call_id: id, content: `rain ${turn}` });
    }
    await ask(stream, [...messages, { role: "user", content: "And now?" }], {
      tools: [WEATHER],
      reasoning_effort: "high",
    });
    const { messages: turns, thinking, output_config: config } = sent();
    expect({ thinking, config }).toEqual({ thinking: { type: "adaptive" }, config: { effort: "high" } });
    expect(turns.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    for (let turn = 0; turn < 3; turn++) {
      // The fake gives the same ids in every turn, and a conversation has each once.
      const again = turn === 0 ? "" : `_${turn + 1}`;
      const [oslo, nothing] = [OSLO, NOTHING].map(({ id }) => `${id}${again}`);
      const calls = [
        { ...OSLO, id: oslo },
        { ...NOTHING, id: nothing },
      ];
      expect(turns[2 * turn + 1]!.content).toEqual([THOUGHT, ...calls]);
      expect(turns[2 * turn + 2]!.content.slice(0, 2)).toEqual([
        { type: "tool_result", tool_use_id: oslo, content: `rain ${turn}` },
        { type: "tool_result", tool_use_id: nothing, content: `rain ${turn}` },
      ]);
    }
    expect(turns.at(-1)?.content.at(-1)).toEqual({ type: "text", text: "And now?" });
  });

  test("a client that knows no thinking goes on all the same, on a model with a budget too", async () => {
    const messages: Messages = [
      ...says({ blocks: [OSLO] }),
      {
        role: "assistant",
        tool_calls: [{ id: "functions.weather:0", type: "function", function: { name: "weather", arguments: "" } }],
      },
      { role: "tool", tool_call_id: "functions.weather:0", content: "rain" },
    ];
    await ask(stream, messages, { tools: [WEATHER], reasoning_effort: "low" }, "claude-sonnet-4-5");
    expect(sent()).not.toHaveProperty("thinking");
    const [, called, answered] = sent().messages;
    expect(called?.content[0]).toMatchObject({
      type: "tool_use",
      id: expect.stringMatching(/^toolu_tg_[\w-]+$/),
      input: {},
    });
    expect(answered?.content[0]).toMatchObject({ tool_use_id: called?.content[0]?.["id"] });
    await ask(stream, says("Hi"), { reasoning_effort: "high", temperature: 0.3 }, "claude-sonnet-4-5");
    expect(sent()).toMatchObject({ thinking: { type: "enabled", budget_tokens: 4000 } });
    expect(sent()).not.toHaveProperty("temperature");
  });

  test("odd conversations become what the upstream takes", async () => {
    const messages: Messages = [
      { role: "assistant", content: "Welcome. " },
      { role: "user", content: "" },
      {
        role: "user",
        content: [
          { type: "text", text: "One" },
          { type: "text", text: "  " },
        ],
      },
      { role: "system", content: "Be kind." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "[1]" } }],
      },
      { role: "user", content: "Two" },
      { role: "tool", tool_call_id: "lost", content: "late" },
      { role: "assistant", content: "So" },
    ];
    await ask(stream, messages);
    expect(sent().messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Continue." }] },
      { role: "assistant", content: [{ type: "text", text: "Welcome. " }] },
      { role: "user", content: [{ type: "text", text: "One" }] },
      { role: "system", content: [{ type: "text", text: "Be kind." }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: { _raw: "[1]" } }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "No result came.", is_error: true },
          { type: "text", text: "Two" },
          { type: "text", text: "The tool call lost returned: late" },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "So" }] },
      { role: "user", content: [{ type: "text", text: "Continue." }] },
    ]);
    expect(sent()).toMatchObject({ tools: [{ name: "f" }], tool_choice: { type: "none" } });
  });

  test("a picture, a document and a schema", async () => {
    const parts = [
      { type: "text" as const, text: steer({ blocks: [{ type: "text", text: '{"a":1}' }] }) },
      { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: "image_url" as const, image_url: { url: "https://a.example/b.png" } },
      { type: "file" as const, file: { file_data: "data:application/pdf;base64,JVBERg==", filename: "a.pdf" } },
    ];
    const schema = { type: "object", properties: { a: { type: "number", minimum: 1 } }, required: ["a"] };
    const format = { type: "json_schema", json_schema: { name: "n", strict: true, schema } };
    const { message } = await ask(stream, [{ role: "user", content: parts }], { response_format: format });
    expect(message.content).toBe('{"a":1}');
    const { messages, output_config: config } = sent();
    expect(messages[0]?.content.slice(1)).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" }, title: "a.pdf" },
    ]);
    const closed = {
      type: "object",
      properties: { a: { type: "number", description: "{minimum: 1}" } },
      required: ["a"],
      additionalProperties: false,
    };
    expect(config).toEqual({ format: { type: "json_schema", schema: closed } });
  });

  test("a tool that takes free text", async () => {
    const blocks = [{ type: "tool_use", id: "toolu_1", name: "patch", input: { input: 'say "hi"\n' } }];
    const tools = [{ type: "custom", custom: { name: "patch", description: "Patches." } }];
    const { message } = await ask(false, says({ blocks }), { tools });
    expect(message.tool_calls).toEqual([
      { id: "toolu_1", type: "custom", custom: { name: "patch", input: 'say "hi"\n' } },
    ]);
  });
});

test("every call was charged once, and nothing stays held", async () => {
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  await world.management.verify();
});
