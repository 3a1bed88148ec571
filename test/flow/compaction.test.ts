/** A long conversation is made short: by OpenAI as it does it, by any other model as a summary. Both are charged. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAKE_ENCRYPTED } from "../support/fake-response.js";
import { script } from "../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../support/responses-world.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
const SUMMARY = "The user wants a gate; it is half built.";

/** A conversation with a call in it, whose fake upstream is steered by what its user said last. */
function conversation(said: string): object[] {
  return [
    { type: "message", role: "developer", content: "You build gates." },
    { type: "message", role: "user", content: "Build a gate." },
    { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "half built" },
    { type: "message", role: "user", content: said },
  ];
}

function compact(body: object, secret = world.secret): Promise<Response> {
  return fetch(`${world.gateway.url}/v1/responses/compact`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(body),
  });
}

test("OpenAI compacts itself: the body goes as it came, and its answer comes as it is", async () => {
  const input = conversation(script({}));
  const answer = await world.client.responses.compact({
    model: "native-1",
    input: input as never,
    instructions: "Be brief.",
  });
  expect(answer).toMatchObject({
    object: "response.compaction",
    output: [{ type: "compaction", encrypted_content: FAKE_ENCRYPTED }],
  });
  const { url, body } = world.openai.requests.at(-1) ?? {};
  expect(url).toBe("/v1/responses/compact");
  const whose = { prompt_cache_key: expect.stringMatching(/^[\w-]{43}$/) as unknown };
  expect(body).toEqual({ model: "native-1", input, instructions: "Be brief.", ...whose });
});

describe.each([{ model: "fake-1" }, { model: "claude-sonnet-4-5" }, { model: "gemini-3-flash" }])(
  "$model",
  ({ model }) => {
    test("is asked to sum up, and what it writes can be gone on from", async () => {
      world.openai.override = { text: SUMMARY };
      world.claude.decide = () => ({ blocks: [{ type: "text", text: SUMMARY }] });
      world.google.decide = () => ({ parts: [{ text: SUMMARY }] });
      const body = { model, input: conversation("Now the hinges."), tools: TOOLS, parallel_tool_calls: true };
      const answer = await compact({ ...body, reasoning: { effort: "low" }, text: { format: { type: "text" } } });
      expect(answer.status).toBe(200);
      expect(BigInt(answer.headers.get("x-tollgate-cost-nanos") ?? 0)).toBeGreaterThan(0n);
      const told = (await answer.json()) as { output: { content: { text: string }[] }[]; usage: object };
      expect(told).toMatchObject({ object: "response.compaction", output: [{ type: "message", role: "assistant" }] });
      expect(told.output[0]?.content[0]?.text).toBe(`Summary of the conversation so far:\n\n${SUMMARY}`);
      const upstreams = [...world.openai.requests, ...world.claude.requests, ...world.google.requests];
      const asked = upstreams.findLast(({ raw }) => raw.includes("takes its place"))?.raw.toString() ?? "";
      for (const text of ["You build gates.", "Build a gate.", "half built", "look"]) expect(asked).toContain(text);
      const next = [...told.output, { type: "message", role: "user", content: "Go on." }];
      expect((await world.post({ model, input: next })).status).toBe(200);
      world.openai.override = undefined;
      world.claude.decide = undefined;
      world.google.decide = undefined;
    });
  },
);

test("a long conversation is summed up too", async () => {
  world.openai.override = { text: SUMMARY };
  const input = [
    { role: "user", content: "words and ".repeat(30_000) },
    { role: "user", content: "Go on." },
  ];
  const answer = await compact({ model: "fake-1", input, tools: TOOLS });
  expect(await answer.json()).toMatchObject({ output: [{ type: "message", role: "assistant" }] });
  expect(world.openai.requests.at(-1)?.raw.length).toBeGreaterThan(300_000);
  world.openai.override = undefined;
});

test("a model that writes nothing is told as a failure, so that no client loses its conversation", async () => {
  world.openai.override = { calls: [{ name: "look", arguments: "{}" }] };
  const answer = await compact({ model: "fake-1", input: conversation("x"), tools: TOOLS });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("wrote no summary");
  world.openai.override = undefined;
});

test.each([
  { name: "without a key", secret: "", body: { model: "native-1", input: "x" }, status: 401 },
  { name: "of an unknown model", body: { model: "nobody", input: "x" }, status: 404 },
  { name: "of nothing", body: { model: "native-1" }, status: 400 },
  {
    name: "of a response that nobody keeps",
    body: { model: "native-1", input: "x", previous_response_id: "resp_1" },
    status: 400,
  },
])("one $name is refused with $status", async ({ secret, body, status }) => {
  expect((await compact(body, secret)).status).toBe(status);
});

test("it is held for, limited and charged as a generation is", async () => {
  await world.management.account("small", 30n);
  const small = await world.management.makeKey("small");
  expect((await compact({ model: "native-1", input: "Hello there." }, small.secret)).status).toBe(402);
  const limited = await world.management.makeKey("acme", { requests_per_minute: 1 });
  const before = (await world.management.balance("acme")).spentNanos;
  expect((await compact({ model: "native-1", input: "x" }, limited.secret)).status).toBe(200);
  expect((await compact({ model: "native-1", input: "x" }, limited.secret)).status).toBe(429);
  const spent = async (): Promise<bigint> => (await world.management.balance("acme")).spentNanos - before;
  // 10 tokens in at 10, 4 out at 100.
  await expect.poll(spent).toBe(500n);
});
