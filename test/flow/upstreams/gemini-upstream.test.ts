/** OpenAI's official client on a Gemini upstream: every feature, whole and streamed. */
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GeminiScript, steer } from "../../support/fake-gemini.js";
import { type GeminiWorld, GOOGLE_SECRET, startGeminiWorld } from "../../support/gemini-world.js";

type Messages = OpenAI.ChatCompletionMessageParam[];
type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };
type Call = OpenAI.ChatCompletionMessageFunctionToolCall & {
  extra_content?: { google: { thought_signature: string } };
};

const WEATHER = {
  type: "function" as const,
  function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};
const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const OSLO = { functionCall: { name: "weather", args: { city: "Oslo" } } };
const ROME = { functionCall: { name: "weather", args: { city: "Rome" } } };

let world: GeminiWorld;
beforeAll(async () => {
  world = await startGeminiWorld();
});
afterAll(() => world.close());

const says = (script: GeminiScript | string): Messages => [
  { role: "user", content: typeof script === "string" ? script : steer(script) },
];

/** The same call, whole or through the strict helper of streams. */
async function ask(
  stream: boolean,
  messages: Messages,
  options: object = {},
  model = "gemini-3-flash",
): Promise<{ message: Message; calls: Call[]; finish: string; usage: OpenAI.CompletionUsage | undefined }> {
  const body = { model, messages, ...options };
  const completion = stream
    ? await world.chat.chat.completions
        .stream({ ...body, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await world.chat.chat.completions.create(body);
  const [choice] = completion.choices;
  return {
    message: choice!.message,
    calls: (choice!.message.tool_calls ?? []) as Call[],
    finish: choice!.finish_reason,
    usage: completion.usage,
  };
}

const sent = (): Record<string, unknown> & { contents: { role: string; parts: Record<string, unknown>[] }[] } =>
  world.google.requests.at(-1)!.body as never;

describe.each([
  { form: "whole", stream: false },
  { form: "streamed", stream: true },
])("$form", ({ stream }) => {
  test("text, system, settings and usage", async () => {
    const messages: Messages = [
      { role: "system", content: "Be brief." },
      { role: "developer", content: "And kind." },
    ];
    const usage = { promptTokenCount: 30, cachedContentTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 39 };
    const options = { temperature: 0.5, top_p: 0.9, stop: ["END"], seed: 7, max_completion_tokens: 50, user: "u" };
    const answer = await ask(stream, [...messages, ...says({ usage })], options);
    expect(answer).toMatchObject({ message: { content: "Hello from gemini-3-flash." }, finish: "stop" });
    expect(answer.usage).toMatchObject({
      prompt_tokens: 30,
      completion_tokens: 9,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    expect(sent()).toEqual({
      contents: [{ role: "user", parts: [{ text: expect.any(String) }] }],
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "And kind." }] },
      generationConfig: { temperature: 0.5, topP: 0.9, stopSequences: ["END"], seed: 7, maxOutputTokens: 50 },
    });
    expect(world.google.requests.at(-1)?.headers["x-goog-api-key"]).toBe(GOOGLE_SECRET);
  });

  test("one tool, and two at once with ids of their own", async () => {
    for (const parts of [[OSLO], [OSLO, ROME]]) {
      const { calls, finish } = await ask(stream, says({ parts }), { tools: [WEATHER], tool_choice: "required" });
      expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual(
        parts.map((part) => part.functionCall.args),
      );
      expect(new Set(calls.map(({ id }) => id)).size).toBe(parts.length);
      expect(finish).toBe("tool_calls");
    }
    expect(sent()).toMatchObject({
      tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: WEATHER.function.parameters }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY" } },
    });
  });

  test.each([
    { client: "that keeps what it was told", keeps: true },
    { client: "that knows only OpenAI's members", keeps: false },
  ])("a loop of three turns with thinking, by a client $client", async ({ keeps }) => {
    const messages = says({ parts: [{ text: "Hmm.", thought: true }, { ...OSLO, thoughtSignature: "c2ln" }, ROME] });
    for (let turn = 0; turn < 3; turn++) {
      const { message, calls } = await ask(stream, messages, { tools: [WEATHER], reasoning_effort: "low" });
      expect(message.reasoning_content).toBe("Hmm.");
      const told = calls.map(({ extra_content: extra, ...call }) => (keeps ? { ...call, extra_content: extra } : call));
      messages.push({ role: "assistant", content: null, tool_calls: told } as never);
      for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: `{"rain":${turn}}` });
    }
    await ask(stream, messages, { tools: [WEATHER], reasoning_effort: "low" });
    const { contents, generationConfig } = sent();
    expect(generationConfig).toMatchObject({ thinkingConfig: { thinkingLevel: "LOW", includeThoughts: true } });
    expect(contents.map(({ role }) => role)).toEqual(["user", "model", "user", "model", "user", "model", "user"]);
    for (let turn = 0; turn < 3; turn++) {
      const called = contents[2 * turn + 1]!.parts;
      const signature = keeps ? "c2ln" : "skip_thought_signature_validator";
      expect(called.map(({ thoughtSignature }) => thoughtSignature)).toEqual([signature, undefined]);
      const answered = contents[2 * turn + 2]!.parts.map((part) => part["functionResponse"]);
      expect(answered).toMatchObject([
        { name: "weather", response: { rain: turn } },
        { name: "weather", response: { rain: turn } },
      ]);
    }
  });

  test("a picture and a schema", async () => {
    const parts = [
      { type: "text" as const, text: steer({ parts: [{ text: '{"a":1}' }] }) },
      { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PNG}` } },
    ];
    const schema = { type: "object", properties: { a: { type: "number" } }, additionalProperties: false };
    const format = { type: "json_schema", json_schema: { name: "n", strict: true, schema } };
    const { message } = await ask(stream, [{ role: "user", content: parts }], { response_format: format });
    expect(message.content).toBe('{"a":1}');
    expect(sent()).toMatchObject({
      contents: [{ parts: [{}, { inlineData: { mimeType: "image/png", data: PNG } }] }],
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
    });
  });

  test.each([
    { end: "a refused prompt", script: { blocked: "PROHIBITED_CONTENT" }, finish: "content_filter", content: "" },
    { end: "a blocked answer", script: { parts: [], finish: "SAFETY" }, finish: "content_filter", content: "" },
    { end: "an empty answer", script: { parts: [] }, finish: "stop", content: "" },
    { end: "a pause", script: { finish: "CONTINUATION" }, finish: "stop", content: "Hello from gemini-3-flash." },
  ])("$end", async ({ script, finish, content }) => {
    // Read without the strict helper, which refuses such ends.
    const body = { model: "gemini-3-flash", messages: says(script) };
    let text = "";
    let reason: string | null = null;
    if (!stream) {
      const [choice] = (await world.chat.chat.completions.create(body)).choices;
      [text, reason] = [choice?.message.content ?? "", choice?.finish_reason ?? null];
    } else {
      for await (const chunk of await world.chat.chat.completions.create({ ...body, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? "";
        reason = chunk.choices[0]?.finish_reason ?? reason;
      }
    }
    expect({ text, reason }).toEqual({ text: content, reason: finish });
  });

  test("a tool that takes free text is a function with one text, and is called as what it is", async () => {
    const format = { type: "grammar", grammar: { syntax: "regex", definition: "[a-z]+" } };
    const tools = [{ type: "custom", custom: { name: "patch", description: "Patches.", format } }];
    const call = { functionCall: { name: "patch", args: { input: 'a "b"\n' } } };
    const body = { model: "gemini-3-flash", messages: says({ parts: [call] }), tools: tools as never };
    let told = { name: "", input: "" };
    let finish: string | null = null;
    if (stream) {
      // The helper of streams knows functions alone, so the chunks are read as they come.
      for await (const chunk of await world.chat.chat.completions.create({ ...body, stream: true })) {
        const [choice] = chunk.choices as unknown as { delta: { tool_calls?: { custom?: Partial<typeof told> }[] } }[];
        const piece = choice?.delta.tool_calls?.[0]?.custom;
        told = { name: told.name + (piece?.name ?? ""), input: told.input + (piece?.input ?? "") };
        finish = chunk.choices[0]?.finish_reason ?? finish;
      }
    } else {
      const [choice] = (await world.chat.chat.completions.create(body)).choices;
      const [called] = choice?.message.tool_calls ?? [];
      if (called?.type === "custom") told = called.custom;
      finish = choice?.finish_reason ?? null;
    }
    expect({ told, finish }).toEqual({ told: { name: "patch", input: 'a "b"\n' }, finish: "tool_calls" });
    expect(sent()["tools"]).toMatchObject([
      { functionDeclarations: [{ name: "patch", description: expect.stringContaining("[a-z]+") }] },
    ]);
  });

  test("a length stop, and two answers at once", async () => {
    expect((await ask(stream, says({ finish: "MAX_TOKENS" }))).finish).toBe("length");
    const two = await ask(stream, says("Hi"), { n: 2 });
    expect(two.message.content).toBe("Hello from gemini-3-flash.");
    expect(sent()).toMatchObject({ generationConfig: { candidateCount: 2 } });
  });

  test.each([
    {
      param: "messages[0].parts[0]",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://a.example/b.png" } }] }],
    },
  ])("what changes the meaning is refused: $param", async ({ param, messages }) => {
    await expect(ask(stream, messages as Messages)).rejects.toMatchObject({ status: 400, param });
  });
});

test("an older model thinks by a budget and needs no signature", async () => {
  const called = { id: "call_1", type: "function" as const, function: { name: "weather", arguments: "" } };
  const messages: Messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", tool_calls: [called] },
    { role: "tool", tool_call_id: "call_1", content: "rain" },
  ];
  await ask(false, messages, { reasoning_effort: "medium" }, "gemini-2.5-flash");
  expect(sent()).toMatchObject({ generationConfig: { thinkingConfig: { thinkingBudget: 8192 } } });
  expect(sent().contents.slice(1)).toEqual([
    { role: "model", parts: [{ functionCall: { id: "call_1", name: "weather", args: {} } }] },
    {
      role: "user",
      parts: [{ functionResponse: { id: "call_1", name: "weather", response: { output: "rain" } } }],
    },
  ]);
});

const GOOGLE_ERROR = (code: number, status: string, details: object[] = []): object => ({
  error: { code, message: `Google says ${status}.`, status, details },
});

test.each([
  {
    name: "a bad credential",
    model: "refusing-google-a",
    status: 400,
    body: GOOGLE_ERROR(400, "INVALID_ARGUMENT", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
    ]),
    want: { status: 502, code: "upstream_credential" },
  },
  {
    name: "a rate limit, wrapped in a list",
    model: "refusing-google-b",
    status: 429,
    body: [GOOGLE_ERROR(429, "RESOURCE_EXHAUSTED", [{ retryDelay: "3.5s" }])],
    want: { status: 429, code: "rate_limit_exceeded" },
  },
  {
    name: "a page of HTML",
    model: "refusing-google-c",
    status: 503,
    body: "<html><body>Away</body></html>",
    want: { status: 503, code: "upstream_unavailable" },
  },
  {
    name: "a wrong request",
    model: "gemini-3-flash",
    status: 400,
    body: GOOGLE_ERROR(400, "INVALID_ARGUMENT"),
    want: { status: 400, message: expect.stringContaining("Google says") },
  },
])("an upstream's $name becomes OpenAI's error", async ({ model, status, body, want }) => {
  await expect(ask(false, says({ status, body }), {}, model)).rejects.toMatchObject(want);
});

test.each([
  { name: "cut", script: { parts: [{ text: "a" }, { text: "b" }], cutAfter: 1 } },
  { name: "ended without a reason", script: { finish: "" } },
  { name: "ended by an error", script: { errorAfter: { chunks: 1, error: { code: 500, status: "INTERNAL" } } } },
])("a stream that is $name never looks complete", async ({ script }) => {
  const stream = await world.chat.chat.completions.create({
    model: "gemini-3-flash",
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

test("a client that leaves is charged what Google reports in the end, for it generates on", async () => {
  const before = await world.management.balance("acme");
  const parts = Array.from({ length: 5 }, (_, place) => ({ text: `word${place} ` }));
  const usage = { promptTokenCount: 100, candidatesTokenCount: 70, totalTokenCount: 170 };
  const stream = await world.chat.chat.completions.create({
    model: "gemini-3-flash",
    messages: says({ parts, usage, usageLast: true, delayMs: 20 }),
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== "") break;
  await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  const after = await world.management.balance("acme");
  expect(after.spentNanos - before.spentNanos).toBe(100n * 10n + 70n * 100n);
});

test("every call was charged once, and nothing stays held", async () => {
  await world.management.verify();
  expect((await world.management.balance("acme")).heldNanos).toBe(0n);
});
