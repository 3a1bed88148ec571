/** Answers that are too long for the event loop, end to end: told to clients of every wire, and charged once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chat, deliveredText, postChat, readAll } from "../../support/chat-call.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type World } from "../../support/world.js";

const MIB = 1_048_576;
const OUTPUT_TOKENS_MAX = 20_000_000;
/** So the fake upstream reports, at 10 and 100 nano-USD a token. */
const USAGE = { prompt_tokens: 10, completion_tokens: 1_000_000, total_tokens: 1_000_010 };
const COST_NANOS = 100_000_100n;
const TEXT = "It is l\u00f6ng, and \ud83d\ude00. ".repeat((2 * MIB) / 20);

function whole(message: object, more: object = {}): string {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more }];
  return JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "fake-1", choices, usage: USAGE });
}

const CLIENTS = [
  {
    wire: "chat",
    path: "/v1/chat/completions",
    body: chat("Hello"),
    textOf: (told: string) =>
      (JSON.parse(told) as { choices: { message: { content: string } }[] }).choices[0]?.message.content,
  },
  {
    wire: "messages",
    path: "/v1/messages",
    body: { ...chat("Hello"), max_tokens: 2_000_000 },
    textOf: (told: string) => (JSON.parse(told) as { content: { text: string }[] }).content[0]?.text,
  },
  {
    wire: "responses",
    path: "/v1/responses",
    body: { model: "fake-1", input: "Hello" },
    textOf: (told: string) =>
      (JSON.parse(told) as { output: { content: { text: string }[] }[] }).output[0]?.content[0]?.text,
  },
  {
    wire: "gemini",
    path: "/v1beta/models/fake-1:generateContent",
    body: { contents: [{ role: "user", parts: [{ text: "Hello" }] }] },
    textOf: (told: string) =>
      (JSON.parse(told) as { candidates: { content: { parts: { text: string }[] } }[] }).candidates[0]?.content.parts[0]
        ?.text,
  },
  {
    wire: "chat as a stream",
    path: "/v1/chat/completions",
    body: chat("Hello", { stream: true }),
    textOf: deliveredText,
  },
];

describe.each(SWEPT_TOPOLOGIES)("an answer of 2 MiB in one piece, %s", (topology) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(topology, OUTPUT_TOKENS_MAX);
  });
  afterEach(() => {
    world.upstream.override = undefined;
  });
  afterAll(() => world.close());

  const spent = async (): Promise<bigint> => {
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
    return (await world.management.balance("acme")).spentNanos;
  };
  const post = (path: string, body: object): Promise<Response> =>
    fetch(world.front.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.secret}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });

  test.each(CLIENTS)("reaches a client of $wire, and is charged as it is reported", async ({ path, body, textOf }) => {
    // As JSON also where a stream is asked for.
    world.upstream.override = { status: 200, body: whole({ content: TEXT }) };
    const before = await spent();
    const response = await post(path, body);
    const told = await readAll(response);
    expect(response.status, told.slice(0, 500)).toBe(200);
    expect(textOf(told) === TEXT).toBe(true);
    expect((await spent()) - before).toBe(COST_NANOS);
  });

  test.each([
    { name: "is no answer", body: JSON.stringify({ nothing: TEXT }) },
    { name: "is cut", body: whole({ content: TEXT }).slice(0, -100) },
    { name: "holds too many values", body: whole({ content: "a" }, { x: Array.from({ length: 5_000_000 }, () => 0) }) },
  ])("that $name is a 502, and free", async ({ body }) => {
    world.upstream.override = { body };
    const before = await spent();
    const response = await postChat(world.front, world.secret, chat("Hello"));
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      502,
      "upstream_error",
    ]);
    expect((await spent()) - before).toBe(0n);
  });
});
