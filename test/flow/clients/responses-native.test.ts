/** Responses to OpenAI itself: what clients send and what it answers pass by their bytes, and nothing is kept. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FAKE_ENCRYPTED } from "../../support/fake-response.js";
import { script } from "../../support/fake-upstream.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

const sent = (): Record<string, unknown> => Object(world.openai.requests.at(-1)?.body);

/** What arrived, but for the member that says whose cache it is. */
function withoutCacheKey(raw: Buffer | undefined): string | undefined {
  return raw?.toString().replace(/,"prompt_cache_key":"[\w-]{43}"/, "");
}

describe("towards OpenAI itself", () => {
  test("a body passes by its bytes, hosted tools and all, but for what the gateway owns", async () => {
    const body = (model: string, rest: string): string =>
      `{ "model":"${model}","input":[{"type":"message","role":"developer","content":"\\u0061"},` +
      `{"type":"reasoning","id":"rs_0a","summary":[],"encrypted_content":"${FAKE_ENCRYPTED}"},` +
      `{"role":"user","content":"Hello","x-new":1.10}],"x-unknown":{"b":1,"a":2},` +
      `"tools":[{"type":"web_search","external_web_access":true},{"type":"namespace","name":"ns","tools":[]}]${rest}}`;
    const answer = await world.post(body("org/renamed", ',"max_output_tokens":77'));
    expect(answer.status).toBe(200);
    const request = world.openai.requests.at(-1);
    expect(request?.url).toBe("/v1/responses");
    expect(withoutCacheKey(request?.raw)).toBe(body("native-1", ',"max_output_tokens":77'));
    expect(answer.headers.get("x-tollgate-dropped")).toBeNull();
    expect(await answer.json()).toMatchObject({ billing: { payer: "fake" }, store: true, usage: { total_tokens: 14 } });
    await world.post(body("native-1", ""));
    expect(withoutCacheKey(world.openai.requests.at(-1)?.raw)).toBe(
      body("native-1", ',"max_output_tokens":8000,"max_tool_calls":10'),
    );
  });

  test("a stream passes by its bytes, and its end comes last", async () => {
    const answer = await world.post({
      model: "native-1",
      stream: true,
      input: script({ thinking: "hm", text: "a b" }),
    });
    const text = await answer.text();
    expect(text).toContain('"obfuscation":"x1y"');
    expect(text).toContain(FAKE_ENCRYPTED);
    expect(text.trimEnd().split("\n\n").at(-1)).toMatch(/^event: response\.completed\ndata: .*"billing"/);
    const stream = world.client.responses.stream({ model: "native-1", input: "Hello" });
    expect((await stream.finalResponse()).output_text).toBe("Hello from native-1.");
  });

  test("the same costs the same, whichever client asked and however it came", async () => {
    const whole = await world.post({ model: "native-1", input: "Hello" });
    // Ten tokens at 10 nano-USD and four at 100.
    expect(whole.headers.get("x-tollgate-cost-nanos")).toBe("500");
    const foreign = await world.post({ model: "fake-1", input: "Hello" });
    expect(foreign.headers.get("x-tollgate-cost-nanos")).toBe("500");
    const streamed = await world.post({ model: "native-1", input: "Hello", stream: true });
    await streamed.text();
    const id = streamed.headers.get("x-request-id") ?? "";
    await expect
      .poll(() => world.management.call("GET", `/requests/${id}`))
      .toMatchObject({ body: { request: { cost_nanos: "500" } } });
  });

  test("thoughts that stood in for another upstream's stay behind", async () => {
    const first = await world.client.responses.create({
      model: "fake-1",
      input: script({ thinking: "hm", text: "b" }),
    });
    const [thought] = first.output;
    expect(thought).toMatchObject({ type: "reasoning", summary: [{ text: "hm" }] });
    const own = { type: "reasoning", id: "rs_0f", summary: [], encrypted_content: FAKE_ENCRYPTED };
    const input = [{ role: "user", content: "a" }, ...first.output, own, { role: "user", content: "b" }];
    await world.post({ model: "native-1", input });
    expect(sent()["input"]).toEqual([input[0], first.output[1], own, input.at(-1)]);
  });

  test.each([{ endAfter: 5 }, { cutAfter: 5 }, { errorAfter: 5 }])(
    "what breaks off with %j never looks complete",
    async (fake) => {
      const answer = await world.post({ model: "native-1", stream: true, input: script({ words: 20, ...fake }) });
      const text = await answer.text();
      expect(text).toContain("response.output_text.delta");
      expect(text).not.toContain("response.completed");
      expect(text).toContain("event: error\n");
      const stream = world.client.responses.stream({ model: "native-1", input: script({ words: 20, ...fake }) });
      await expect(stream.finalResponse()).rejects.toThrow(/upstream/);
    },
  );

  test("an error before anything was generated still has its status", async () => {
    const answer = await world.post({ model: "native-1", stream: true, input: script({ errorAfter: 2 }) });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { type: "server_error", code: "upstream_error" } });
  });
});

describe("what would have to be kept is refused, on every model", () => {
  test.each([
    { param: "previous_response_id", value: "resp_1", code: "previous_response_not_found" },
    { param: "conversation", value: "conv_1", code: "invalid_value" },
    { param: "conversation", value: { id: "conv_1" }, code: "invalid_value" },
    { param: "background", value: true, code: "invalid_value" },
    { param: "prompt", value: { id: "pmpt_1" }, code: "invalid_value" },
  ])("$param $value", async ({ param, value, code }) => {
    for (const model of ["native-1", "fake-1"]) {
      const answer = await world.post({ model, input: "Hello", [param]: value });
      expect(answer.status).toBe(400);
      const error = { type: "invalid_request_error", param, code, message: expect.any(String) };
      expect(await answer.json()).toEqual({ error });
    }
  });

  test("an item that only names another", async () => {
    const input = [{ type: "item_reference", id: "msg_1" }];
    const answer = await world.post({ model: "native-1", input });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: "input[0]", code: "invalid_value" } });
  });

  test("what says that nothing is kept is taken", async () => {
    const body = { model: "fake-1", input: "Hello", previous_response_id: null, background: false, store: true };
    const answer = await world.post({ ...body, conversation: null, prompt: null });
    expect(await answer.json()).toMatchObject({ status: "completed", store: false, previous_response_id: null });
  });

  test.each([
    { body: { input: "a" }, param: "model" },
    { body: { model: "fake-1" }, param: "input" },
    { body: { model: "fake-1", input: [] }, param: "input" },
    { body: { model: "fake-1", input: [{ type: "message", content: "a" }] }, param: "input[0].role" },
    { body: { model: "fake-1", input: "a", temperature: 3 }, param: "temperature" },
    { body: { model: "fake-1", input: "a", tools: [1] }, param: "tools" },
  ])("a wrong or missing $param is named", async ({ body, param }) => {
    const answer = await world.post(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error", param } });
  });

  test.each(['{"model":"native-1","model":"x","input":"a"}', '{"model":"native-1","mod\\u0065l":"x","input":"a"}'])(
    "a key that occurs twice: %s",
    async (body) => {
      const answer = await world.post(body);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: "invalid_body" } });
    },
  );
});
