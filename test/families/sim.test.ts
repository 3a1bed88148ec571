/** The stand-in, as a client of its upstream hears it and as the wire reads it. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSimUpstream } from "../../src/families/sim/upstream.js";
import { sim } from "../../src/families/sim/index.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { Listener } from "../upstream/listener.js";

const upstream = createSimUpstream({ nowMs: () => 1_700_000_000_000 });

interface Body {
  readonly [member: string]: unknown;
}

function bodyOf(content: unknown, more: Body = {}): Body {
  return { model: "sim-1", messages: [{ role: "user", content }], ...more };
}

function send(body: unknown): { heard: Listener; exchange: ReturnType<typeof upstream.send> } {
  const heard = new Listener();
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const exchange = upstream.send({ method: "POST", path: "/chat/completions", headers: {}, body: bytes }, heard);
  return { heard, exchange };
}

const callSchema = z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.string() }).optional() });

const answerSchema = z.looseObject({
  id: z.string(),
  choices: z
    .array(
      z.looseObject({
        index: z.number(),
        message: z.looseObject({ content: z.string().nullable(), tool_calls: z.array(callSchema).optional() }),
        logprobs: z
          .looseObject({ content: z.array(z.looseObject({ token: z.string(), top_logprobs: z.array(z.unknown()) })) })
          .nullable(),
        finish_reason: z.string(),
      }),
    )
    .min(1),
  usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() }),
});
type SimAnswer = z.infer<typeof answerSchema>;

async function answer(body: unknown): Promise<SimAnswer> {
  const { heard } = send(body);
  await heard.ended;
  return answerSchema.parse(JSON.parse(heard.text));
}

const contentOf = (made: SimAnswer): string => made.choices[0]?.message.content ?? "";

async function streamed(body: Body): Promise<string> {
  const { heard } = send({ ...body, stream: true, stream_options: { include_usage: true } });
  await heard.ended;
  expect(heard.headers["content-type"]).toBe("text/event-stream");
  return heard.text;
}

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
      required: ["city", "days"],
    },
  },
};
const CLOCK = { type: "function", function: { name: "clock" } };

describe("an answer", () => {
  test("says back what the user said, and counts it", async () => {
    const made = await answer(bodyOf("What is a gateway?"));
    expect(contentOf(made)).toContain("What is a gateway?");
    expect(made).toMatchObject({ object: "chat.completion", model: "sim-1", created: 1_700_000_000 });
    const { prompt_tokens, completion_tokens, total_tokens } = made.usage;
    expect(prompt_tokens).toBeGreaterThan(4);
    expect(completion_tokens).toBeGreaterThan(10);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  test("is the same to the same request", async () => {
    const { id: _, ...first } = await answer(bodyOf("again", { n: 2 }));
    expect(await answer(bodyOf("again", { n: 2 }))).toMatchObject(first);
  });

  test("streamed says and counts what the whole one does, through the wire's own reader", async () => {
    for (const body of [
      bodyOf("hello there"),
      bodyOf("sim:think well"),
      bodyOf("use get_weather", { tools: [WEATHER] }),
    ]) {
      const whole = wire.decodeAnswer(Buffer.from(JSON.stringify(await answer(body)))).report;
      const facts = wire.readRequest({ wire: wire.name, body: Buffer.from(JSON.stringify(body)), headers: {} }).facts;
      const decoder = wire.decodeStream({ ...facts, stream: true, includeUsage: true }, "events");
      for (const byte of Buffer.from(await streamed(body))) decoder.push(Buffer.from([byte]));
      decoder.end();
      expect(decoder.report.complete).toBe(true);
      expect(decoder.report.text).toBe(whole.text);
      expect(decoder.report.usage).toEqual(whole.usage);
    }
  });

  test("has as many candidates as were asked for", async () => {
    const made = await answer(bodyOf("hi", { n: 3 }));
    expect(made.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
  });

  test.each([
    { name: "max_completion_tokens", limit: { max_completion_tokens: 3 } },
    { name: "max_tokens", limit: { max_tokens: 3 } },
  ])("ends at $name", async ({ limit }) => {
    const made = await answer(bodyOf("sim:words=50", { ...limit, n: 2 }));
    expect(made.usage.completion_tokens).toBe(6);
    expect(made.choices[0]?.finish_reason).toBe("length");
  });

  test("never is longer than the model's own limit", async () => {
    const made = await answer(bodyOf("sim:words=10000"));
    expect(made.usage.completion_tokens).toBe(16_000);
  });

  test.each([
    { stop: " word3", want: "word1 word2" },
    { stop: ["nothing", "word2"], want: "word1 " },
  ])("ends before the stop text $stop", async ({ stop, want }) => {
    const made = await answer(bodyOf("sim:words=5", { stop }));
    expect(made.choices[0]).toMatchObject({ message: { content: want }, finish_reason: "stop" });
  });

  test("tells how certain each token was, where asked", async () => {
    const made = await answer(bodyOf("sim:words=2", { logprobs: true, top_logprobs: 2 }));
    const content = made.choices[0]?.logprobs?.content ?? [];
    expect(content.map((one) => one.token).join("")).toBe("word1 word2");
    expect(content[0]?.top_logprobs).toHaveLength(2);
    const text = await streamed(bodyOf("sim:words=2", { logprobs: true }));
    expect(text.match(/"logprob":/g)).toHaveLength(content.length);
  });

  test("counts pictures", async () => {
    const parts = (images: number): unknown[] => [
      { type: "text", text: "look" },
      ...Array.from({ length: images }, () => ({
        type: "image_url",
        image_url: { url: "data:image/png;base64,AA==" },
      })),
    ];
    const [none, two] = [await answer(bodyOf(parts(0))), await answer(bodyOf(parts(2)))];
    expect(two.usage.prompt_tokens - none.usage.prompt_tokens).toBe(170);
    expect(contentOf(two)).toContain("look");
  });
});

describe("structured output", () => {
  test("is the smallest instance of the schema", async () => {
    const schema = {
      type: "object",
      properties: {
        name: { type: "string" },
        kind: { enum: ["big", "small"] },
        tags: { type: "array", items: { type: "string" }, minItems: 1 },
        at: { $ref: "#/$defs/place" },
        note: { type: ["string", "null"] },
        more: { anyOf: [{ type: "null" }, { type: "integer", exclusiveMinimum: 5 }] },
        left: { type: "string" },
      },
      required: ["name", "kind", "tags", "at", "note", "more"],
      $defs: { place: { type: "object", properties: { x: { type: "number", minimum: 0.5 } }, required: ["x"] } },
    };
    const made = await answer(
      bodyOf("json", { response_format: { type: "json_schema", json_schema: { name: "n", schema } } }),
    );
    expect(JSON.parse(contentOf(made))).toEqual({
      name: "name",
      kind: "big",
      tags: ["tags"],
      at: { x: 0.5 },
      note: "note",
      more: 6,
    });
  });

  test.each([
    { name: "demands itself", schema: { $ref: "#" } },
    { name: "demands itself inside", schema: { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] } },
    { name: "points nowhere", schema: { $ref: "#/$defs/none" } },
    { name: "is no schema", schema: 7 },
    { name: "demands a million items", schema: { type: "array", minItems: 1_000_000, items: { type: "null" } } },
  ])("ends where a schema $name", async ({ schema }) => {
    const made = await answer(
      bodyOf("json", { response_format: { type: "json_schema", json_schema: { name: "n", schema } } }),
    );
    expect(() => JSON.parse(contentOf(made))).not.toThrow();
  });

  test("without a schema is some object", async () => {
    const made = await answer(bodyOf("json please", { response_format: { type: "json_object" } }));
    expect(JSON.parse(contentOf(made))).toEqual({ answer: "json please" });
  });
});

describe("tools", () => {
  const tools = [CLOCK, WEATHER];
  test.each([
    { name: "one that the user names", more: { tools }, asked: "please get_weather", want: ["get_weather"] },
    { name: "one that the user names in words", more: { tools }, asked: "Get weather in Rome", want: ["get_weather"] },
    {
      name: "all that the user names",
      more: { tools },
      asked: "clock and get_weather",
      want: ["clock", "get_weather"],
    },
    {
      name: "only one, where not in parallel",
      more: { tools, parallel_tool_calls: false },
      asked: "clock and get_weather",
      want: ["clock"],
    },
    {
      name: "the first, where one must be called",
      more: { tools, tool_choice: "required" },
      asked: "hi",
      want: ["clock"],
    },
    {
      name: "the one that was chosen",
      more: { tools, tool_choice: { type: "function", function: { name: "get_weather" } } },
      asked: "hi",
      want: ["get_weather"],
    },
    {
      name: "one of those allowed",
      more: { tools, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [WEATHER] } } },
      asked: "clock",
      want: ["get_weather"],
    },
    { name: "none, where none may be", more: { tools, tool_choice: "none" }, asked: "clock", want: undefined },
    { name: "none, where none is named", more: { tools }, asked: "hi", want: undefined },
  ])("are called: $name", async ({ more, asked, want }) => {
    const [choice] = (await answer(bodyOf(asked, more))).choices;
    const names = choice?.message.tool_calls?.map((call) => call.function?.name);
    expect(names).toEqual(want);
    expect(choice?.finish_reason).toBe(want === undefined ? "stop" : "tool_calls");
    expect(choice?.message.content === null).toBe(want !== undefined);
  });

  test("get arguments that their schema allows", async () => {
    const made = await answer(bodyOf("clock, get_weather", { tools }));
    const calls = made.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => JSON.parse(call.function?.arguments ?? ""))).toEqual([{}, { city: "city", days: 1 }]);
  });

  test("with free text get text", async () => {
    const made = await answer(bodyOf("run shell", { tools: [{ type: "custom", custom: { name: "shell" } }] }));
    expect(made.choices[0]?.message.tool_calls).toEqual([
      { id: "call_sim_0_0", type: "custom", custom: { name: "shell", input: "text" } },
    ]);
  });

  test("that answered are told of in text, even where one must be called", async () => {
    const messages = [
      { role: "user", content: "get_weather" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "get_weather", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "rain" },
    ];
    const made = await answer({ model: "sim-1", messages, tools, tool_choice: "required" });
    expect(contentOf(made)).toBe("The tool answered: rain");
  });

  test("that do not fit the limit are cut, and the answer says so", async () => {
    const made = await answer(bodyOf("get_weather", { tools, max_tokens: 2 }));
    expect(made.choices[0]?.finish_reason).toBe("length");
    expect(made.usage.completion_tokens).toBe(2);
  });
});

describe("a refusal", () => {
  test.each([
    { name: "no JSON", body: "{", status: 400, code: null },
    { name: "no messages", body: { model: "sim-1", messages: [] }, status: 400, code: "invalid_value" },
    { name: "another model", body: { ...bodyOf("x"), model: "gpt-4o" }, status: 404, code: "model_not_found" },
    {
      name: "a prompt beyond the context",
      body: bodyOf("word ".repeat(130_000)),
      status: 400,
      code: "context_length_exceeded",
    },
    { name: "one that was asked for", body: bodyOf("sim:fail=503"), status: 503, code: "sim_fail" },
  ])("for $name is $status", async ({ body, status, code }) => {
    const { heard } = send(body);
    await heard.ended;
    expect(heard.status).toBe(status);
    expect(JSON.parse(heard.text).error).toMatchObject({ code, message: expect.any(String) });
  });

  test("of a path that is not there", async () => {
    const heard = new Listener();
    upstream.send({ method: "GET", path: "/nothing", headers: {}, body: undefined }, heard);
    await heard.ended;
    expect(heard.status).toBe(404);
  });
});

describe("an exchange with the stand-in", () => {
  test("never calls back before it is in the caller's hands", () => {
    const { heard, exchange } = send(bodyOf("hi"));
    expect(heard.calls).toEqual([]);
    exchange.abort();
  });

  test("stops while it is paused, and goes on where it was", async () => {
    const { heard, exchange } = send({ ...bodyOf("sim:words=2000"), stream: true });
    await heard.until("data");
    exchange.pause();
    const { bytes } = heard;
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(heard.bytes).toBe(bytes);
    exchange.resume();
    await heard.ended;
    const said = [...heard.text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join("");
    expect(said).toBe(Array.from({ length: 2000 }, (_, i) => `word${i + 1}`).join(" "));
    expect(heard.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test.each(["sent", "head", "data"] as const)("is silent once it was aborted: after %s", async (when) => {
    const { heard, exchange } = send({ ...bodyOf("sim:words=2000"), stream: true });
    if (when !== "sent") await heard.until(when);
    exchange.abort();
    const calls = [...heard.calls];
    exchange.resume();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(heard.calls).toEqual(calls);
  });

  test("fails when the stand-in is closed", async () => {
    const own = createSimUpstream({ nowMs: () => 0 });
    const heard = new Listener();
    const body = Buffer.from(JSON.stringify({ ...bodyOf("sim:slow=5000"), stream: true }));
    own.send({ method: "POST", path: "/chat/completions", headers: {}, body }, heard);
    await heard.until("head");
    await own.close();
    await expect(heard.ended).rejects.toThrow();
  });

  test("lists what it serves", async () => {
    const heard = new Listener();
    const served = sim.connect?.();
    served?.send({ method: "GET", path: sim.modelsPath ?? "", headers: {}, body: undefined }, heard);
    await heard.ended;
    const listed = sim.readModels(Buffer.from(heard.text)).map((model) => model.id);
    expect(listed).toEqual(sim.builtInModels.map((model) => model.id));
  });
});
