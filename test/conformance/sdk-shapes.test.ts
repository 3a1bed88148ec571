/** What the official SDKs declare is what a gateway's answers are held to, strictly. */
import { describe, expect, test } from "vitest";
import { chat as chatOf, postChat, readAll } from "../support/chat-call.js";
import { script } from "../support/fake-upstream.js";
import { sdkShapes } from "../support/sdk-shapes.js";
import { Fitting } from "../support/shape.js";
import { startWorld } from "../support/world.js";

const message = { role: "assistant", content: "Hello.", refusal: null };
const choice = { index: 0, finish_reason: "stop", logprobs: null, message };
const chat = { id: "a", object: "chat.completion", created: 1, model: "m", choices: [choice] };
const usage = { input_tokens: 1, output_tokens: 1 };
const event = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } };

describe("what the SDKs declare", () => {
  const strict = new Fitting(sdkShapes(), {});

  test.each([
    { name: "an answer", subject: "chat", value: chat, says: undefined },
    { name: "an event", subject: "messageEvent", value: event, says: undefined },
    { name: "Google's answer", subject: "content", value: { candidates: [{ finishReason: "STOP" }] }, says: undefined },
    {
      name: "a member too many",
      subject: "chat",
      value: { ...chat, choices: [{ ...choice, message: { ...message, mood: "good" } }] },
      says: ".choices[0].message.mood is no member of ChatCompletionMessage",
    },
    {
      name: "a member too few",
      subject: "chat",
      value: { ...chat, choices: [{ index: 0, finish_reason: "stop", message }] },
      says: ".choices[0] lacks logprobs of ChatCompletion.Choice",
    },
    {
      name: "a word of no list",
      subject: "chat",
      value: { ...chat, choices: [{ ...choice, finish_reason: "end" }] },
      says: '.choices[0].finish_reason is "end", none of the 5 alternatives',
    },
    {
      name: "an event of no kind",
      subject: "messageEvent",
      value: { type: "content_block" },
      says: 'the whole is {"type":"content_block"}, none of the 7 alternatives',
    },
    {
      name: "a delta of another kind",
      subject: "messageEvent",
      value: { ...event, delta: { type: "text_delta", thinking: "a" } },
      says: ".delta lacks text of TextDelta",
    },
    { name: "text for a number", subject: "messageTokens", value: { input_tokens: "1" }, says: ".input_tokens is" },
    { name: "a list for one", subject: "chat", value: [chat], says: "the whole is [" },
    { name: "usage alone", subject: "message", value: { usage }, says: "the whole lacks id of Message" },
  ])("$name", ({ subject, value, says }) => {
    const found = strict.misfit(subject, value);
    if (says === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(says);
  });

  test("an allowance is of one object", () => {
    const fitting = new Fitting(sdkShapes(), { ChatCompletion: { more: ["mood"], fewer: ["created"] } });
    const { created: _, ...rest } = chat;
    expect(fitting.misfit("chat", { ...rest, mood: "good" })).toBeUndefined();
    expect(fitting.misfit("chat", { ...rest, choices: [{ ...choice, mood: "good" }] })).toContain(".mood is no member");
  });
});

test("a gateway whose answer does not fit ends its test", async () => {
  const world = await startWorld();
  const fitting = await postChat(world.front, world.secret, chatOf(script({ text: "Hello." })));
  expect(fitting.status).toBe(200);
  await readAll(await postChat(world.front, world.secret, chatOf(script({ members: { mood: "good" } }))));
  await expect(world.close()).rejects.toThrow(/POST \/v1\/chat\/completions 200: in the chat, \.mood is no member/);
  await world.upstream.close();
});
