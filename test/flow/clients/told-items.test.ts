/** What an answer told, named by its id in a later request, as clients do that leave storing on. */
import { generateText, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const MODELS = ["fake-1", "native-1", "claude-sonnet-4-5", "gemini-3-flash"];
type Json = Readonly<Record<string, unknown>>;

function post(body: object, secret = world.secret): Promise<Response> {
  return fetch(`${world.gateway.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });
}

/** Asks, and returns the id of the message that was answered. */
async function said(model: string, more: object, secret = world.secret): Promise<string> {
  const response = await post({ model, input: "Say it.", ...more }, secret);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const last: Json = JSON.parse(text.startsWith("{") ? text : text.slice(text.lastIndexOf("\ndata: ") + 7));
  const { output } = (last["response"] ?? last) as { output: readonly Json[] };
  return String(output.find(({ type }) => type === "message")?.["id"]);
}

const naming = (model: string, id: string): object => ({
  model,
  input: [
    { role: "user", content: "Say it." },
    { type: "item_reference", id },
    { role: "user", content: "Again." },
  ],
});

describe.each(MODELS)("%s", (model) => {
  test.each([false, true])("takes up what it said, streamed: %s", async (stream) => {
    const id = await said(model, { stream });
    const response = await post(naming(model, id));
    expect(response.status, await response.clone().text()).toBe(200);
  });

  test("on the default settings of ai: tools, and another turn", async () => {
    const add = tool({ inputSchema: z.object({ a: z.number() }), execute: ({ a }) => a + 1 });
    const first = await generateText({
      model: world.ai(model),
      prompt: "Hi",
      tools: { add },
      stopWhen: stepCountIs(3),
    });
    const messages = [
      { role: "user" as const, content: "Hi" },
      ...first.response.messages,
      { role: "user" as const, content: "And now?" },
    ];
    const second = streamText({ model: world.ai(model), messages, tools: { add } });
    expect((await second.text).length).toBeGreaterThan(0);
  });
});

test("the words reach the upstream as they were told", async () => {
  const told = await post({ model: "fake-1", input: script({ text: "The mark." }) });
  const { output } = (await told.json()) as { output: readonly Json[] };
  await post(naming("fake-1", String(output[0]?.["id"])));
  expect(JSON.stringify(world.openai.requests.at(-1)?.body)).toContain("The mark.");
});

test("neither what was not to be stored nor another key's is found", async () => {
  const { secret } = await world.management.makeKey("acme");
  const unstored = await said("fake-1", { store: false }, secret);
  expect((await post(naming("fake-1", unstored), secret)).status).toBe(400);
  const id = await said("fake-1", {}, secret);
  expect((await post(naming("fake-1", id), secret)).status).toBe(200);
  const { secret: another } = await world.management.makeKey("acme");
  const other = await post(naming("fake-1", id), another);
  expect(other.status).toBe(400);
  expect(await other.text()).toContain("input[1]");
});

test.each(['"store":false ', "\\u0073tore ", "an item_reference "])(
  "of a long request that says '%s' in its text, what it told is found where it is to be stored",
  async (words) => {
    const input = script({ text: "A mark." }) + words.repeat(30_000);
    const { secret } = await world.management.makeKey("acme");
    const unstored = await said("fake-1", { input, store: false }, secret);
    expect((await post(naming("fake-1", unstored), secret)).status).toBe(400);
    const id = await said("fake-1", { input }, secret);
    expect((await post(naming("fake-1", id), secret)).status).toBe(200);
  },
);

test("thousands of names are looked up once each, whatever the key was told", async () => {
  const { secret } = await world.management.makeKey("acme");
  const id = await said("fake-1", {}, secret);
  for (let answer = 0; answer < 3; answer++)
    await post({ model: "fake-1", input: script({ text: "word ".repeat(40_000) }) }, secret);
  const input = Array.from({ length: 4_000 }, (_, index) => ({ type: "item_reference", id: `mm${index}` }));
  let searchedBytes = 0;
  const plain: unknown = Buffer.prototype.includes;
  const spy = vi.spyOn(Buffer.prototype, "includes").mockImplementation(function (this: Buffer, ...given: unknown[]) {
    searchedBytes += this.length;
    return Reflect.apply(plain as (...given: unknown[]) => boolean, this, given);
  });
  try {
    expect((await post({ model: "fake-1", input }, secret)).status).toBe(400);
  } finally {
    spy.mockRestore();
  }
  expect(searchedBytes).toBeLessThan(64 * JSON.stringify(input).length);
  expect((await post(naming("fake-1", id), secret)).status).toBe(200);
});

test("an item that is named again and again is told once, also in a long request", async () => {
  const told = await post({ model: "fake-1", input: script({ text: "The mark." }) });
  const { output } = (await told.json()) as { output: readonly Json[] };
  const id = String(output[0]?.["id"]);
  const names = Array.from({ length: 50 }, () => ({ type: "item_reference", id }));
  for (const text of ["Again.", "Again. ".repeat(60_000)]) {
    // The upstream gives all of its answers one id, under which the next answer would be kept.
    const input = [...names, { role: "user", content: text }];
    const response = await post({ model: "fake-1", store: false, input });
    expect(response.status, await response.clone().text()).toBe(200);
    const body = JSON.stringify(world.openai.requests.at(-1)?.body);
    expect(body.split("The mark.").length - 1).toBe(1);
  }
});
