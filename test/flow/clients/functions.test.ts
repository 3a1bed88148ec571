/** The older form of tools: who asks with `functions` reads `function_call`, and who asks with `tools` reads calls. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { steer as steerClaude } from "../../support/fake-anthropic.js";
import { steer as steerGoogle } from "../../support/fake-gemini.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const LOOK = { name: "look", parameters: { type: "object", properties: { city: { type: "string" } } } };
const INPUT = { city: "Oslo" };
const MODELS = [
  {
    model: "claude-sonnet-4-5",
    content: steerClaude({
      blocks: [
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "toolu_1", name: "look", input: INPUT },
      ],
    }),
  },
  {
    model: "gemini-3-flash",
    content: steerGoogle({ parts: [{ text: "Let me see." }, { functionCall: { name: "look", args: INPUT } }] }),
  },
];
const FORMS = [false, true].flatMap((stream) => MODELS.map(({ model, content }) => ({ model, content, stream })));

interface Message {
  readonly function_call?: { readonly name?: string; readonly arguments?: string };
  readonly tool_calls?: readonly unknown[];
}

describe.each(FORMS)("$model, streamed: $stream", ({ model, content, stream }) => {
  const ask = async (tools: object): Promise<{ messages: Message[]; finish: (string | null)[] }> => {
    const body = { model, messages: [{ role: "user" as const, content }], ...tools };
    if (!stream) {
      const { choices } = await world.client.chat.completions.create(body);
      return {
        messages: choices.map(({ message }) => message as Message),
        finish: choices.map((one) => one.finish_reason),
      };
    }
    const messages: Message[] = [];
    const finish: (string | null)[] = [];
    for await (const { choices } of await world.client.chat.completions.create({ ...body, stream: true }))
      for (const { delta, finish_reason: reason } of choices) {
        messages.push(delta as Message);
        if (reason !== null) finish.push(reason);
      }
    return { messages, finish };
  };

  test("functions are answered by a function call", async () => {
    const { messages, finish } = await ask({ functions: [LOOK] });
    const calls = messages.flatMap((message) => message.function_call ?? []);
    expect(calls.map(({ name = "" }) => name).join("")).toBe("look");
    expect(JSON.parse(calls.map((call) => call.arguments ?? "").join(""))).toEqual(INPUT);
    expect(messages.flatMap((message) => message.tool_calls ?? [])).toEqual([]);
    expect(finish).toEqual(["function_call"]);
  });

  test("tools are answered by calls of tools", async () => {
    const { messages, finish } = await ask({ tools: [{ type: "function", function: LOOK }] });
    expect(messages.flatMap((message) => message.tool_calls ?? []).length).toBeGreaterThan(0);
    expect(messages.flatMap((message) => message.function_call ?? [])).toEqual([]);
    expect(finish).toEqual(["tool_calls"]);
  });
});
