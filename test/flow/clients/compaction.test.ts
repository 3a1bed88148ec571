/** A long conversation is made short: by OpenAI as it does it, by any other model as a summary. Both are charged. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { FAKE_ENCRYPTED } from "../../support/fake-response.js";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
const SUMMARY = "The user wants a gate; it is half built.";
const SEALED = `tollgate.summary.${Buffer.from(SUMMARY).toString("base64url")}`;

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

/** Every upstream writes this, or nothing. */
function answerWith(text: string): void {
  world.openai.override = { text };
  world.claude.decide = () => ({ blocks: text === "" ? [] : [{ type: "text", text }] });
  world.google.decide = () => ({ parts: [{ text }] });
}

function answerAsAsked(): void {
  world.openai.override = undefined;
  world.claude.decide = undefined;
  world.google.decide = undefined;
}

/** The last body that held this, whichever upstream got it. */
function lastWith(text: string): string {
  const upstreams = [...world.openai.requests, ...world.claude.requests, ...world.google.requests];
  return upstreams.findLast(({ raw }) => raw.includes(text))?.raw.toString() ?? "";
}

const ASKED = "takes its place";
const TRIGGER = { type: "compaction_trigger" };
const HEADED = `Summary of the conversation so far:\\n\\n${SUMMARY}`;

describe.each([{ model: "fake-1" }, { model: "claude-sonnet-4-5" }, { model: "gemini-3-flash" }])(
  "$model",
  ({ model }) => {
    afterEach(answerAsAsked);

    /** Goes on with this model, another one and OpenAI's own, from what was made of the conversation. */
    async function goOn(output: readonly object[]): Promise<void> {
      expect(output).toEqual([{ id: expect.any(String) as unknown, type: "compaction", encrypted_content: SEALED }]);
      answerAsAsked();
      for (const next of [model, "claude-sonnet-4-5", "native-1"]) {
        const input = [...output, { type: "message", role: "user", content: `Go on with ${next}.` }];
        expect((await world.post({ model: next, input })).status).toBe(200);
        const sent = lastWith(`Go on with ${next}.`);
        expect(sent).toContain(HEADED);
        expect(sent).not.toContain("encrypted_content");
      }
    }

    test("is asked to sum up, and what it writes can be gone on from", async () => {
      answerWith(SUMMARY);
      const body = { model, input: conversation("Now the hinges."), tools: TOOLS, parallel_tool_calls: true };
      const answer = await compact({ ...body, reasoning: { effort: "low" }, text: { format: { type: "text" } } });
      expect(answer.status).toBe(200);
      expect(BigInt(answer.headers.get("x-tollgate-cost-nanos") ?? 0)).toBeGreaterThan(0n);
      const told = (await answer.json()) as { object: string; output: object[]; usage: object };
      expect(told.object).toBe("response.compaction");
      for (const text of ["You build gates.", "Build a gate.", "half built", "look"])
        expect(lastWith(ASKED)).toContain(text);
      await goOn(told.output);
    });

    test("is asked to by an item, as a whole and as a stream", async () => {
      const input = [...conversation("Now the latch."), TRIGGER] as never;
      answerWith(SUMMARY);
      const whole = await world.client.responses.create({ model, input, store: false });
      const stream = await world.client.responses.create({ model, input, store: false, stream: true });
      const events = [];
      for await (const event of stream) events.push(event);
      expect(events.map(({ type }) => type)).toEqual([
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
      ]);
      const last = events.at(-1);
      if (last?.type !== "response.completed") throw new Error("it has not ended");
      expect(lastWith(ASKED)).toContain("Now the latch.");
      expect(last.response.output).toMatchObject([{ type: "compaction", encrypted_content: SEALED }]);
      await goOn(whole.output);
    });

    test("that writes nothing fails, so that no client loses its conversation", async () => {
      answerWith("");
      const input = [...conversation("Now the bolt."), TRIGGER] as never;
      const whole = await world.client.responses
        .create({ model, input, store: false })
        .catch((error: unknown) => error);
      if (whole instanceof Error) return expect(whole.message).toContain("502");
      expect(whole).toMatchObject({ status: "failed", output: [], error: { code: "server_error" } });
    });
  },
);

test.each([
  { name: "an item that only OpenAI can read", item: { type: "compaction", encrypted_content: FAKE_ENCRYPTED } },
  { name: "an item that asks for it before the last", item: TRIGGER },
])("$name is refused by its place on another model", async ({ item }) => {
  const input = [{ role: "user", content: "x" }, item, { role: "user", content: "Go on." }];
  const answer = await world.post({ model: "fake-1", input });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "input[1]" } });
});

test("a long conversation is summed up too", async () => {
  world.openai.override = { text: SUMMARY };
  const input = [
    { role: "user", content: "words and ".repeat(30_000) },
    { role: "user", content: "Go on." },
  ];
  const answer = await compact({ model: "fake-1", input, tools: TOOLS });
  expect(await answer.json()).toMatchObject({ output: [{ type: "compaction" }] });
  expect(world.openai.requests.at(-1)?.raw.length).toBeGreaterThan(300_000);
  world.openai.override = undefined;
});

test("a model that writes nothing is told as a failure, so that no client loses its conversation", async () => {
  world.openai.override = { calls: [{ name: "look", arguments: "{}" }] };
  const answer = await compact({ model: "fake-1", input: conversation("x"), tools: TOOLS });
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain("wrote no whole summary");
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
