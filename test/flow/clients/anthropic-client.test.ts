/** Anthropic's official clients, today's and the one before, on an OpenAI upstream and on their own. */
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROOF } from "../../support/anthropic-rules.js";
import { type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { steer } from "../../support/fake-anthropic.js";
import { script } from "../../support/fake-upstream.js";

type Params = Anthropic.MessageCreateParamsNonStreaming;
type Messages = Anthropic.MessageParam[];

const WEATHER: Anthropic.Tool = {
  name: "weather",
  description: "Tells the weather.",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};
const PNG = "iVBORw0KGgoAAAANSUhEUg==";

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

const CLIENTS = ["today's", "older"] as const;
const CASES = CLIENTS.flatMap((client) => [
  { client, form: "whole", stream: false },
  { client, form: "streamed", stream: true },
]);

/** The same call by either client, whole or through its strict helper of streams. */
async function ask(
  { client, stream }: { readonly client: (typeof CLIENTS)[number]; readonly stream: boolean },
  messages: Messages,
  options: Partial<Params> = {},
): Promise<Anthropic.Message> {
  const body = { model: "fake-1", max_tokens: 500, messages, ...options };
  if (client === "today's")
    return stream ? world.anthropic.messages.stream(body).finalMessage() : world.anthropic.messages.create(body);
  // The two clients' own types differ in what no test reads.
  const older = body as never;
  const answer: unknown = stream
    ? await world.older.messages.stream(older).finalMessage()
    : await world.older.messages.create(older);
  return answer as Anthropic.Message;
}

const says = (text: string): Messages => [{ role: "user", content: text }];

interface Sent {
  readonly messages: readonly Record<string, unknown>[];
  readonly [key: string]: unknown;
}
const sent = (): Sent => world.openai.requests.at(-1)!.body as Sent;

describe.each(CASES)("$client client, $form, on an OpenAI upstream", (how) => {
  test("text, system, settings and usage", async () => {
    const usageIs = { prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 1 } };
    const answer = await ask(how, says(script({ usageIs })), {
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=1" },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
      ],
      stop_sequences: ["END"],
      metadata: { user_id: "u".repeat(170) },
    });
    expect(answer).toMatchObject({
      type: "message",
      role: "assistant",
      model: "fake-1",
      content: [{ type: "text", text: "Hello from fake-1." }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 4 },
    });
    expect(sent()).toMatchObject({ model: "fake-1", max_tokens: 500, stop: ["END"] });
    expect(sent().messages[0]).toEqual({ role: "system", content: "Be brief." });
    expect(sent()["user"]).toMatch(/^[0-9a-f]{64}$/);
  });

  test("one tool, two at once, and text before them", async () => {
    const one = { name: "weather", arguments: '{"city":"Ålesund"}' };
    const empty = { name: "weather", arguments: "" };
    for (const calls of [[one], [one, empty]]) {
      const answer = await ask(how, says(script({ calls })), {
        tools: [WEATHER],
        tool_choice: { type: "tool", name: "weather", disable_parallel_tool_use: true },
      });
      expect(answer.stop_reason).toBe("tool_use");
      expect(answer.content).toMatchObject(
        calls.map((call, place) => ({
          type: "tool_use",
          id: `call_fake_${place}`,
          name: "weather",
          input: JSON.parse(call.arguments || "{}"),
        })),
      );
    }
    expect(sent()).toMatchObject({
      tools: [{ type: "function", function: { name: "weather", parameters: WEATHER.input_schema } }],
      tool_choice: { type: "function", function: { name: "weather" } },
      parallel_tool_calls: false,
    });
  });

  test("a loop of three turns with thinking, errors and pictures among the results", async () => {
    const calls = [
      { name: "weather", arguments: '{"city":"Oslo"}' },
      { name: "weather", arguments: "{}" },
    ];
    const next = script({ thinking: "Hmm.", calls });
    const messages = says(next);
    const thinking = { type: "enabled", budget_tokens: 1024 } as const;
    for (let turn = 0; turn < 3; turn++) {
      const answer = await ask(how, messages, { max_tokens: 2000, tools: [WEATHER], thinking });
      const [thought, ...uses] = answer.content;
      expect(thought).toMatchObject({ type: "thinking", thinking: "Hmm.", signature: expect.stringMatching(/./) });
      expect(answer.content.map(({ type }) => type)).toEqual(["thinking", "tool_use", "tool_use"]);
      messages.push({ role: "assistant", content: answer.content });
      const results = uses.map((use, place): Anthropic.ToolResultBlockParam => ({
        type: "tool_result",
        tool_use_id: use.type === "tool_use" ? use.id : "",
        is_error: place === 1,
        content: [
          { type: "text", text: `rain ${turn}` },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        ],
      }));
      messages.push({ role: "user", content: [...results, { type: "text", text: next }] });
    }
    await ask(how, messages, { tools: [WEATHER] });
    const turns = sent().messages;
    expect(turns.map(({ role }) => role).slice(0, 5)).toEqual(["user", "assistant", "tool", "tool", "user"]);
    expect(turns[1]).toMatchObject({
      content: null,
      tool_calls: [
        { id: "call_fake_0", function: { arguments: '{"city":"Oslo"}' } },
        { id: "call_fake_1", function: { arguments: "{}" } },
      ],
    });
    expect(turns[2]).toMatchObject({ tool_call_id: "call_fake_0", content: "rain 0[image follows]" });
    expect(turns[3]).toMatchObject({ tool_call_id: "call_fake_1", content: "Error: rain 0[image follows]" });
    expect(turns[4]).toMatchObject({
      content: [{ type: "image_url" }, { type: "image_url" }, { type: "text", text: next }],
    });
    expect(JSON.stringify(turns)).not.toContain("tollgate");
  });

  test("pictures, documents and a schema", async () => {
    const format = {
      type: "json_schema" as const,
      schema: {
        type: "object",
        properties: { a: { type: "number" } },
        required: ["a"],
        additionalProperties: false,
      },
    };
    const content: Anthropic.ContentBlockParam[] = [
      { type: "text", text: "What is on these?" },
      { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Notes." }, title: "n" },
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" } },
    ];
    const answer = await ask(how, [{ role: "user", content }], { output_config: { format } });
    expect(answer.content).toMatchObject([{ type: "text", text: "Hello from fake-1." }]);
    expect(sent()).toMatchObject({
      response_format: {
        type: "json_schema",
        json_schema: { name: "response", schema: format.schema, strict: true },
      },
    });
    expect(Reflect.get(sent().messages[0]!, "content")).toMatchObject([
      {},
      { type: "image_url", image_url: { url: "https://a.example/b.png" } },
      { type: "text", text: "n\n\nNotes." },
      { type: "file", file: { file_data: "data:application/pdf;base64,JVBERg==" } },
    ]);
  });

  test("names that are too long for the upstream come back as they were", async () => {
    const name = `mcp__${"server_".repeat(12)}tool`;
    const short = new RegExp(`^${name.slice(0, 40)}\\w{24}$`);
    const seen = await ask(how, says("Hi"), { tools: [{ ...WEATHER, name }] });
    expect(seen.stop_reason).toBe("end_turn");
    const tools = sent()["tools"] as { function: { name: string } }[];
    const called = tools[0]?.function.name ?? "";
    expect(called).toMatch(short);
    const answer = await ask(how, says(script({ calls: [{ name: called, arguments: "{}" }] })), {
      tools: [{ ...WEATHER, name }],
    });
    expect(answer.content).toMatchObject([{ type: "tool_use", name }]);
  });

  test.each([
    { end: "a length stop", fake: { finish: "length" }, stop: "max_tokens", text: "Hello from fake-1." },
    { end: "a blocked answer", fake: { text: "", finish: "content_filter" }, stop: "refusal", text: "" },
    { end: "an empty answer", fake: { text: "" }, stop: "end_turn", text: "" },
    { end: "a stop that hides calls", fake: { finish: "tool_calls" }, stop: "end_turn", text: "Hello from fake-1." },
  ])("$end", async ({ fake, stop, text }) => {
    const answer = await ask(how, says(script(fake)));
    const texts = answer.content.map((block) => (block.type === "text" ? block.text : block.type));
    expect({ stop: answer.stop_reason, text: texts.join("") }).toEqual({ stop, text });
  });
});

describe.each(CASES)("$client client, $form, on its own upstream", (how) => {
  test("everything arrives as it was said", async () => {
    const thought = { type: "thinking", thinking: "Hmm, well.", signature: `${PROOF}x+/y==` };
    const redacted = { type: "redacted_thinking", data: "EmwKAh==" };
    const use = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } };
    const blocks = [thought, redacted, { type: "text", text: "I look." }, use];
    const messages = says(steer({ blocks, usage: { cache_creation_input_tokens: 5, cache_read_input_tokens: 7 } }));
    const options = { model: "claude-opus-5", tools: [WEATHER], "x-new": { deep: [1] } } as Partial<Params>;
    const answer = await ask(how, messages, options);
    expect(answer.content).toMatchObject(blocks);
    expect(answer.usage).toMatchObject({
      input_tokens: 10,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 7,
    });
    const result: Anthropic.ToolResultBlockParam = { type: "tool_result", tool_use_id: "toolu_1", content: "rain" };
    const next: Messages = [
      ...messages,
      { role: "assistant", content: answer.content },
      { role: "user", content: [result] },
    ];
    await ask(how, next, options);
    const received = world.upstream.requests.at(-1)!;
    expect(received.body).toEqual({
      ...options,
      max_tokens: 500,
      messages: next,
      ...(how.stream ? { stream: true } : {}),
    });
  });

  test("a stream that was answered whole is told as a stream", async () => {
    const answer = await ask(how, says(steer({ whole: true })), { model: "org/renamed" });
    expect(answer).toMatchObject({
      content: [{ type: "text", text: "Hello from claude-opus-5." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, output_tokens: 4 },
    });
  });
});
