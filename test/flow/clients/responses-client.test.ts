/** The official clients of OpenAI's responses, unmodified, over models of every family, whole and streamed. */
import { generateText, stepCountIs, streamText, tool } from "ai";
import { APIError } from "openai";
import type {
  Response as ModelResponse,
  ResponseCreateParamsNonStreaming,
  ResponseFunctionToolCall,
  ResponseInputItem,
} from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { steer as steerClaude } from "../../support/fake-anthropic.js";
import { steer as steerGoogle } from "../../support/fake-gemini.js";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } } },
};
const PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==";
const OSLO = { city: "Oslo" };
const ROME = { city: "Rome" };

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

/** A model behind each family, and how its fake is told what to say. */
const FAMILIES = [
  {
    model: "fake-1",
    callsBoth: script({
      thinking: "hm",
      calls: [OSLO, ROME].map((city) => ({ name: "weather", arguments: JSON.stringify(city) })),
    }),
    isCut: script({ text: "half", finish: "length" }),
  },
  {
    model: "native-1",
    callsBoth: script({
      thinking: "hm",
      calls: [OSLO, ROME].map((city) => ({ name: "weather", arguments: JSON.stringify(city) })),
    }),
    isCut: script({ text: "half", finish: "length" }),
  },
  {
    model: "claude-sonnet-4-5",
    callsBoth: steerClaude({
      blocks: [
        { type: "thinking", thinking: "hm", signature: "U0lH+/==" },
        ...[OSLO, ROME].map((input, k) => ({ type: "tool_use", id: `toolu_${k}`, name: "weather", input })),
      ],
    }),
    isCut: steerClaude({ blocks: [{ type: "text", text: "half" }], stop: "max_tokens" }),
  },
  {
    model: "gemini-3-flash",
    callsBoth: steerGoogle({
      parts: [
        { text: "hm", thought: true },
        { functionCall: { name: "weather", args: OSLO }, thoughtSignature: "c2ln" },
        { functionCall: { name: "weather", args: ROME } },
      ],
    }),
    isCut: steerGoogle({ parts: [{ text: "half" }], finish: "MAX_TOKENS" }),
  },
];

const callsOf = ({ output }: Pick<ModelResponse, "output">): ResponseFunctionToolCall[] =>
  output.flatMap((item) => (item.type === "function_call" ? [item] : []));

const resultsOf = (calls: readonly ResponseFunctionToolCall[]): ResponseInputItem[] =>
  calls.map(({ call_id: callId }) => ({ type: "function_call_output", call_id: callId, output: "sunny" }));

describe.each(FAMILIES)("the official OpenAI client's responses of $model", ({ model, callsBoth, isCut }) => {
  describe.each([false, true])("streamed: %s", (streamed) => {
    const ask = async (body: Omit<ResponseCreateParamsNonStreaming, "model">): Promise<ModelResponse> => {
      if (!streamed) return world.client.responses.create({ model, ...body });
      return world.client.responses.stream({ model, ...body, stream: true }).finalResponse();
    };

    test("text, with usage", async () => {
      const response = await ask({ input: "Hello", instructions: "Be kind." });
      expect(response.output_text).toMatch(/^Hello/);
      expect(response.status).toBe("completed");
      expect(response.usage).toMatchObject({ input_tokens: 10, output_tokens: 4, total_tokens: 14 });
    });

    test("a loop of three turns with parallel calls, thoughts and all", async () => {
      const input: ResponseInputItem[] = [{ role: "user", content: callsBoth }];
      for (let turn = 0; turn < 2; turn++) {
        const response = await ask({ input, tools: [WEATHER], reasoning: { summary: "auto" } });
        const calls = callsOf(response);
        expect(calls.map((call) => JSON.parse(call.arguments))).toEqual([OSLO, ROME]);
        expect(new Set(calls.map((call) => call.call_id)).size).toBe(2);
        expect(response.output.some((item) => item.type === "reasoning" && item.summary[0]?.text === "hm")).toBe(true);
        input.push(...(response.output as ResponseInputItem[]), ...resultsOf(calls));
        // Ids of a fake's calls come again; a real model's never do.
        for (const item of input)
          if ("call_id" in item && !item.call_id?.includes("turn")) item.call_id = `${item.call_id}_turn${turn}`;
      }
      input.push({ role: "user", content: "Thanks. {}" });
      const plain = { fake: {} };
      input.push({ role: "user", content: JSON.stringify(plain) });
      const last = await ask({ input, tools: [WEATHER] });
      expect(last.output_text).toMatch(/^Hello/);
    });

    test("an answer that is cut by its limit says so", async () => {
      const response = await ask({ input: isCut, max_output_tokens: 16 });
      expect(response.status).toBe("incomplete");
      expect(response.incomplete_details).toEqual({ reason: "max_output_tokens" });
      expect(response.output_text).toBe("half");
    });

    test("a picture", async () => {
      const content = [
        { type: "input_text" as const, text: "What is it?" },
        { type: "input_image" as const, image_url: PNG, detail: "auto" as const },
      ];
      expect((await ask({ input: [{ role: "user", content }] })).output_text).toMatch(/^Hello/);
    });
  });
});

test("the input is counted before it is asked, free of charge, and more of it is more", async () => {
  for (const model of ["fake-1", "native-1"]) {
    const before = await world.management.balance("acme");
    const count = async (input: string): Promise<number> => {
      const told = await world.client.responses.inputTokens.count({ model, input, instructions: "Be brief." });
      expect(told.object).toBe("response.input_tokens");
      return told.input_tokens;
    };
    const few = await count("Hello");
    expect(few).toBeGreaterThan(0);
    expect(await count("Hello, and how are you today?")).toBeGreaterThan(few);
    expect(await world.management.balance("acme")).toEqual(before);
  }
});

describe("what must come back comes back", () => {
  const loop = async (model: string, content: string): Promise<void> => {
    const first = await world.client.responses.stream({ model, input: content, tools: [WEATHER] }).finalResponse();
    const input = [
      { role: "user" as const, content },
      ...(first.output as ResponseInputItem[]),
      ...resultsOf(callsOf(first)),
      { role: "user" as const, content: JSON.stringify({ fake: {} }) },
    ];
    await world.client.responses.create({ model, input, tools: [WEATHER] });
  };

  test("to Claude its thought with its proof, before the calls", async () => {
    await loop("claude-sonnet-4-5", FAMILIES[2]!.callsBoth);
    expect(world.claude.requests.at(-1)?.body["messages"]).toMatchObject([
      { role: "user" },
      { content: [{ type: "thinking", thinking: "hm", signature: "U0lH+/==" }, { id: "toolu_0" }, { id: "toolu_1" }] },
      { role: "user", content: [{ tool_use_id: "toolu_0" }, { tool_use_id: "toolu_1" }, { type: "text" }] },
    ]);
  });

  test("to Gemini the signature of its call", async () => {
    await loop("gemini-3-flash", FAMILIES[3]!.callsBoth);
    const { contents } = world.google.requests.at(-1)!.body as { contents: { parts: object[] }[] };
    const parts = contents.flatMap((content) => content.parts).filter((part) => "functionCall" in part);
    expect(parts).toMatchObject([{ thoughtSignature: "c2ln" }, {}]);
  });
});

describe("the official client's own readings", () => {
  test("parse gives what the schema says", async () => {
    const schema = {
      type: "object",
      properties: { a: { type: "number" } },
      required: ["a"],
      additionalProperties: false,
    };
    const format = { type: "json_schema" as const, name: "sum", schema, strict: true };
    const response = await world.client.responses.parse({
      model: "fake-1",
      input: script({ text: '{"a":7}' }),
      text: { format },
    });
    expect(response.output_parsed).toEqual({ a: 7 });
    expect(world.openai.requests.at(-1)?.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { name: "sum", schema, strict: true } },
    });
  });

  test("the response repeats what was asked", async () => {
    const asked = { instructions: "Be kind.", temperature: 0.5, metadata: { a: "b" }, max_output_tokens: 99 };
    const response = await world.client.responses.create({ model: "fake-1", input: "a", tools: [WEATHER], ...asked });
    expect(response).toMatchObject({
      ...asked,
      tools: [WEATHER],
      tool_choice: "auto",
      store: false,
      background: false,
    });
  });

  test("a refusal is one", async () => {
    const refusal = {
      choices: [{ index: 0, message: { role: "assistant", content: null, refusal: "No." }, finish_reason: "stop" }],
    };
    const body = JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "x", ...refusal });
    world.openai.override = { body };
    const response = await world.client.responses.create({ model: "fake-1", input: "a" });
    world.openai.override = undefined;
    expect(response.output).toMatchObject([{ type: "message", content: [{ type: "refusal", refusal: "No." }] }]);
  });

  test("errors are the client's own classes, whole and in a stream", async () => {
    await expect(world.client.responses.create({ model: "no-such", input: "a" })).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      param: "model",
    });
    const stream = world.client.responses.stream({ model: "fake-1", input: script({ words: 9, cutAfter: 5 }) });
    await expect(stream.finalResponse()).rejects.toThrow(APIError);
    const events: string[] = [];
    const raw = await world.client.responses.create({
      model: "fake-1",
      stream: true,
      input: script({ words: 9, cutAfter: 5 }),
    });
    const read = async (): Promise<void> => {
      for await (const event of raw) events.push(event.type);
    };
    await expect(read()).rejects.toMatchObject({ code: "upstream_error", type: "server_error" });
    expect(events).toContain("response.output_text.delta");
    expect(events).not.toContain("response.completed");
  });
});

describe("the ai package's default model", () => {
  const tools = {
    weather: tool({ description: "w", inputSchema: z.object({ city: z.string() }), execute: () => ({ sky: "blue" }) }),
  };
  const calling = { id: "", times: 1, calls: [{ name: "weather", arguments: '{"city":"Oslo"}' }] };

  test.each(["fake-1", "native-1"])("calls a tool and goes on, whole and streamed, with %s", async (model) => {
    const ask = { model: world.ai(model), tools, stopWhen: stepCountIs(3) };
    const whole = await generateText({ ...ask, prompt: script({ ...calling, id: `${model} whole` }) });
    expect(whole.text).toBe(`Hello from ${model}.`);
    expect(whole.steps).toHaveLength(2);
    const streamed = streamText({ ...ask, prompt: script({ ...calling, id: `${model} streamed` }) });
    expect(await streamed.text).toBe(`Hello from ${model}.`);
    expect(await streamed.usage).toMatchObject({ inputTokens: 10, outputTokens: 4 });
  });

  test("keeps its thoughts where it says that nothing is stored", async () => {
    const prompt = steerClaude({
      blocks: [
        { type: "thinking", thinking: "hm", signature: "U0lH+/==" },
        { type: "text", text: "ok" },
      ],
    });
    const model = world.ai("claude-sonnet-4-5");
    const providerOptions = { openai: { store: false } };
    const first = await generateText({ model, prompt, providerOptions });
    expect(first.text).toBe("ok");
    expect(first.reasoningText).toBe("hm");
    const messages = [
      { role: "user" as const, content: prompt },
      ...first.response.messages,
      { role: "user" as const, content: JSON.stringify({ fake: {} }) },
    ];
    await generateText({ model, messages, providerOptions });
    expect(world.claude.requests.at(-1)?.body["messages"]).toMatchObject([
      { role: "user" },
      {
        content: [
          { type: "thinking", signature: "U0lH+/==" },
          { type: "text", text: "ok" },
        ],
      },
      { role: "user" },
    ]);
  });
});
