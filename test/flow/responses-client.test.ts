/** The official clients of OpenAI's responses, unmodified, over models of other wires. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../support/responses-world.js";

const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  strict: false,
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

describe("the official OpenAI client's responses", () => {
  test("come whole, with every key that its readers want", async () => {
    const response = await world.client.responses.create({ model: "fake-1", input: "Hello" });
    expect(response.output_text).toBe("Hello from fake-1.");
    expect(response.usage).toMatchObject({ input_tokens: 10, output_tokens: 4, total_tokens: 14 });
    expect(response).toMatchObject({ object: "response", status: "completed", store: false, error: null });
  });

  test("stream through the strict helper, with text and usage", async () => {
    const stream = world.client.responses.stream({ model: "fake-1", input: "Hello" });
    const types: string[] = [];
    stream.on("event", (event) => types.push(event.type));
    const response = await stream.finalResponse();
    expect(response.output_text).toBe("Hello from fake-1.");
    expect(response.usage).toMatchObject({ input_tokens: 10, output_tokens: 4 });
    expect(types[0]).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
  });

  test.each([false, true])("call several tools at once, streamed: %s", async (streamed) => {
    const calls = [
      { name: "weather", arguments: '{"city":"Ålesund"}' },
      { name: "weather", arguments: '{"city":"Bergen"}' },
    ];
    const body = { model: "fake-1", input: script({ calls }), tools: [WEATHER] };
    const response = streamed
      ? await world.client.responses.stream(body).finalResponse()
      : await world.client.responses.create(body);
    const called = response.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
    expect(called.map((item) => item.arguments)).toEqual(calls.map((call) => call.arguments));
    const results = called.map((item) => ({
      type: "function_call_output" as const,
      call_id: item.call_id,
      output: "sunny",
    }));
    const next = await world.client.responses.create({
      model: "fake-1",
      tools: [WEATHER],
      input: [{ role: "user", content: "How is it?" }, ...response.output, ...results] as never,
    });
    expect(next.output_text).toBe("Hello from fake-1.");
    expect(world.openai.requests.at(-1)?.body).toMatchObject({
      messages: [
        { role: "user", content: "How is it?" },
        { role: "assistant", tool_calls: [{ id: called[0]?.call_id }, { id: called[1]?.call_id }] },
        { role: "tool", tool_call_id: called[0]?.call_id, content: "sunny" },
        { role: "tool", tool_call_id: called[1]?.call_id, content: "sunny" },
      ],
    });
  });
});
