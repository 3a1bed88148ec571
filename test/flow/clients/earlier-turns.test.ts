/** Helpers of Anthropic's official client that leave the history to the server: they end right on every model. */
import Anthropic from "@anthropic-ai/sdk";
import { ThreadUnsupportedRequestError } from "@anthropic-ai/sdk/resources/messages";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { script } from "../../support/fake-upstream.js";

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

/** The texts of what the model's upstream was last asked. */
const saw = (model: string): string => {
  const { requests } = model === "fake-1" ? world.openai : world.upstream;
  return JSON.stringify(requests.at(-1)?.body);
};

const weather = (asked: string[]) =>
  betaTool({
    name: "weather",
    description: "Tells the weather.",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run: ({ city }) => {
      asked.push(city);
      return `rain over ${city}`;
    },
  });

const CALL = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } };

describe.each(["fake-1", "claude-opus-5"])("on %s", (model) => {
  test.each([{ stream: false }, { stream: true }])(
    "a runner of tools goes on from what it asked, $stream",
    async (how) => {
      const asked: string[] = [];
      world.upstream.decide = ({ messages }) =>
        (messages as object[]).length === 1 ? { blocks: [CALL] } : { blocks: [{ type: "text", text: "It rains." }] };
      const turns = [{ calls: [{ name: "weather", arguments: '{"city":"Oslo"}' }] }, { text: "It rains." }];
      const content = model === "fake-1" ? script({ id: `runner ${how.stream}`, turns }) : "How is it in Oslo?";
      const runner = world.anthropic.beta.messages.toolRunner({
        model,
        max_tokens: 500,
        messages: [{ role: "user", content }],
        tools: [weather(asked)],
        ...how,
      });
      const answer = await runner.runUntilDone();
      expect(asked).toEqual(["Oslo"]);
      expect(answer.content).toMatchObject([{ type: "text", text: "It rains." }]);
      expect(saw(model)).toContain("rain over Oslo");
      expect(saw(model)).not.toContain("previous_message_id");
    },
  );

  test("a thread that may go on by itself sends the whole conversation", async () => {
    world.upstream.decide = () => ({ blocks: [{ type: "text", text: "Yes." }] });
    const thread = world.anthropic.beta.messages.thread({
      model,
      max_tokens: 500,
      unsupportedRequestBehavior: "continue_unthreaded",
    });
    await thread.send({ role: "user", content: "the first thing" });
    await thread.send({ role: "user", content: "the second thing" });
    expect(saw(model)).toContain("the first thing");
    expect(saw(model)).toContain("the second thing");
  });

  test.each(["create", "count"])("the refusal of a thread is the client's own error, asked to %s", async (asked) => {
    const body = { model, thread: { type: "continue", previous_message_id: "msg_1" } };
    const messages = [{ role: "user" as const, content: "and the second one?" }];
    const { messages: client } = world.anthropic;
    const call: Promise<unknown> =
      asked === "create"
        ? client.create({ ...body, messages, max_tokens: 50 } as Anthropic.MessageCreateParamsNonStreaming)
        : client.countTokens({ ...body, messages } as Anthropic.MessageCountTokensParams);
    const error: unknown = await call.catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(ThreadUnsupportedRequestError);
    expect(error).toMatchObject({
      status: 400,
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    });
  });
});

test("a container that another family would have to hold is refused where it is counted too", async () => {
  const body = { model: "fake-1", max_tokens: 50, container: "c_1", messages: [{ role: "user", content: "Hi" }] };
  for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
    const answer = await world.post(path, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { details: { param: "container" } } });
  }
});
