/** Amazon's Bedrock, end to end: signed requests, binary streams, and the clients of two other wires. */
import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BedrockWorld, CLAUDE, startBedrockWorld } from "../../support/bedrock-world.js";
import { type BedrockScript, steer } from "../../support/fake-bedrock.js";

let world: BedrockWorld;
beforeAll(async () => {
  world = await startBedrockWorld();
});
afterAll(() => world.close());

describe("who asks", () => {
  test.each(["cloud", "bearer", "environment"])("%s is known by its signature, or its key", async (upstream) => {
    const answer = await world.ask("hi", `${upstream}-1`);
    expect(answer.choices[0]?.message.content).toBe("Hello from Bedrock.");
    expect(world.aws.requests.at(-1)?.url).toBe(`/model/${encodeURIComponent(CLAUDE)}/converse`);
  });

  test("a wrong secret is the operator's trouble, never the client's", async () => {
    const refusal = await world.ask("hi", "stranger-1").catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 502 });
    expect(String(refusal) + world.gateway.log.join("")).not.toContain("another-secret");
  });
});

describe("text", () => {
  test("whole and streamed, byte by byte, with the same usage", async () => {
    const answer = await world.ask({ byByte: true });
    const stream = await world.streamed({ byByte: true });
    expect(world.aws.requests.at(-1)?.url).toBe(`/model/${encodeURIComponent(CLAUDE)}/converse-stream`);
    // The wire names no answer, so each gets a name of ours.
    expect(answer.id).not.toBe((await world.ask("hi")).id);
    for (const { choices, usage } of [answer, stream]) {
      expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Hello from Bedrock." } });
      expect(usage).toMatchObject({
        prompt_tokens: 57,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 40 },
      });
    }
  });

  test("Anthropic's client, whole and streamed", async () => {
    const body = { model: "cloud-1", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] };
    const answers = [await world.claude.messages.create(body), await world.claude.messages.stream(body).finalMessage()];
    for (const answer of answers) {
      expect(answer.content.map((block) => (block.type === "text" ? block.text : "")).join("")).toBe(
        "Hello from Bedrock.",
      );
      expect(answer).toMatchObject({
        stop_reason: "end_turn",
        usage: { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 40, cache_creation_input_tokens: 7 },
      });
    }
  });
});

test("the client of OpenAI's responses is answered too", async () => {
  const answer = await world.chat.responses.create({ model: "cloud-1", input: "hi" });
  expect(answer).toMatchObject({ status: "completed", output_text: "Hello from Bedrock." });
  const stream = world.chat.responses.stream({ model: "cloud-1", input: "hi" });
  expect(await stream.finalResponse()).toMatchObject({ output_text: "Hello from Bedrock." });
});

describe("tools", () => {
  const weather: OpenAI.ChatCompletionTool = {
    type: "function",
    function: { name: "weather", parameters: { properties: { city: { type: "string" } } } },
  };
  const call = (id: string, input: object): object => ({ toolUse: { toolUseId: id, name: "weather", input } });
  const content = [
    { text: "Let me see." },
    call("tooluse_1", { city: "Oslo" }),
    call("tooluse_2", { city: "Rome", at: 12345678901234567890n.toString() }),
    call("tooluse_3", {}),
  ] as BedrockScript["content"] & object;
  const script = { content, stopReason: "tool_use" };

  test("parallel calls come as they are, whole and streamed, and their results go back in one turn", async () => {
    const whole = await world.chat.chat.completions.create({
      model: "cloud-1",
      messages: [{ role: "user", content: steer(script) }],
      tools: [weather],
    });
    const stream = await world.streamed(script, { tools: [weather] });
    for (const { choices } of [whole, stream]) {
      expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: "Let me see." } });
      const calls = choices[0]?.message.tool_calls ?? [];
      expect(calls.map(({ id }) => id)).toEqual(["tooluse_1", "tooluse_2", "tooluse_3"]);
      expect(calls.map((made) => ("function" in made ? JSON.parse(made.function.arguments) : made))).toEqual([
        { city: "Oslo" },
        { city: "Rome", at: "12345678901234567890" },
        {},
      ]);
    }
    const message = whole.choices[0]?.message;
    if (message === undefined) throw new Error("there is no message");
    const after = await world.chat.chat.completions.create({
      model: "cloud-1",
      messages: [
        { role: "user", content: "How is it?" },
        message,
        { role: "tool", tool_call_id: "tooluse_2", content: "warm" },
        { role: "tool", tool_call_id: "tooluse_1", content: "cold" },
      ],
      tools: [weather],
      tool_choice: "none",
    });
    expect(after.choices[0]?.finish_reason).toBe("stop");
    const { body } = world.aws.requests.at(-1) ?? {};
    expect(body?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ text: "Let me see." }, {}, {}, { toolUse: { toolUseId: "tooluse_3" } }] },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "tooluse_1", content: [{ text: "cold" }] } },
          { toolResult: { toolUseId: "tooluse_2", content: [{ text: "warm" }] } },
          { toolResult: { toolUseId: "tooluse_3", status: "error" } },
        ],
      },
    ]);
    // The wire has no word for no call, and wants the tools declared all the same.
    expect(body?.["toolConfig"]).toEqual({
      tools: [
        {
          toolSpec: {
            name: "weather",
            inputSchema: { json: { type: "object", properties: { city: { type: "string" } } } },
          },
        },
      ],
    });
    expect(body?.["system"]).toEqual([{ text: "Do not call any tool." }]);
  });
});

describe("thinking", () => {
  const thought = { reasoningContent: { reasoningText: { text: "Rain is likely.", signature: "c2lnbmVk" } } };
  const hidden = { reasoningContent: { redactedContent: "aGlkZGVu" } };
  const made = { toolUse: { toolUseId: "tooluse_9", name: "weather", input: { city: "Oslo" } } };
  const script = { content: [thought, hidden, made], stopReason: "tool_use" };
  const tools = [{ name: "weather", input_schema: { type: "object" as const } }];
  const asked = {
    model: "cloud-1",
    max_tokens: 4_000,
    thinking: { type: "enabled" as const, budget_tokens: 2_000 },
    tools,
  };

  test("goes back with its proof, readable or not, in a loop of tools", async () => {
    const question = { role: "user" as const, content: steer(script) };
    const answers = [
      await world.claude.messages.create({ ...asked, messages: [question] }),
      await world.claude.messages.stream({ ...asked, messages: [question] }).finalMessage(),
    ];
    for (const { content, stop_reason: reason } of answers) {
      expect(reason).toBe("tool_use");
      expect(content).toMatchObject([
        { type: "thinking", thinking: "Rain is likely.", signature: "c2lnbmVk" },
        { type: "redacted_thinking", data: "aGlkZGVu" },
        { type: "tool_use", id: "tooluse_9", input: { city: "Oslo" } },
      ]);
      const result = { type: "tool_result" as const, tool_use_id: "tooluse_9", content: "rain" };
      await world.claude.messages.create({
        ...asked,
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content },
          { role: "user", content: [result] },
        ],
      });
      expect(world.aws.requests.at(-1)?.body).toMatchObject({
        messages: [{}, { content: [thought, hidden, made] }, { content: [{ toolResult: { toolUseId: "tooluse_9" } }] }],
        additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2_000 } },
        inferenceConfig: { maxTokens: 4_000 },
      });
    }
  });
});

test("pictures and files come as bytes, and their addresses are refused by name", async () => {
  const data = Buffer.from("bytes").toString("base64");
  const image = { type: "image_url" as const, image_url: { url: `data:image/png;base64,${data}` } };
  const file = {
    type: "file" as const,
    file: { filename: "my  report.pdf", file_data: `data:application/pdf;base64,${data}` },
  };
  const ofUser = (part: OpenAI.ChatCompletionContentPart): OpenAI.ChatCompletionMessageParam[] => [
    { role: "user", content: [part] },
  ];
  await world.chat.chat.completions.create({ model: "cloud-1", messages: ofUser(image) });
  const source = { bytes: data };
  expect(world.aws.requests.at(-1)?.body["messages"]).toEqual([
    { role: "user", content: [{ image: { format: "png", source } }] },
  ]);
  await world.chat.chat.completions.create({ model: "cloud-1", messages: ofUser(file) });
  expect(world.aws.requests.at(-1)?.body["messages"]).toEqual([
    {
      role: "user",
      content: [{ document: { format: "pdf", name: "my report-pdf", source } }, { text: "Read what is attached." }],
    },
  ]);
  const held = { type: "image_url" as const, image_url: { url: "https://pictures.invalid/1.png" } };
  await expect(world.chat.chat.completions.create({ model: "cloud-1", messages: ofUser(held) })).rejects.toMatchObject({
    status: 400,
    param: "messages[0].content[0]",
  });
});

test("an answer bound to a schema", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  await world.chat.chat.completions.create({
    model: "cloud-1",
    messages: [{ role: "user", content: "hi" }],
    response_format: { type: "json_schema", json_schema: { name: "place", schema } },
  });
  const textFormat = {
    type: "json_schema",
    structure: { jsonSchema: { name: "place", schema: JSON.stringify({ ...schema, additionalProperties: false }) } },
  };
  expect(world.aws.requests.at(-1)?.body["outputConfig"]).toEqual({ textFormat });
});
