/** The fake upstream does what a request tells it, since all flow tests stand on that. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHttpUpstream } from "../../src/upstream/http.js";
import type { Upstream } from "../../src/upstream/upstream.js";
import { script, startFakeUpstream, type FakeScript, type FakeUpstream } from "../support/fake-upstream.js";
import { Listener } from "./listener.js";

let fake: FakeUpstream;
let upstream: Upstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
  upstream = createHttpUpstream({ baseUrl: fake.url });
});
afterAll(async () => {
  await upstream.close();
  await fake.close();
});

interface Ask {
  readonly content?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** Sends a request and waits for its end, well or not. */
async function ask({ content = "hi", headers = {}, ...members }: Ask): Promise<Listener> {
  const heard = new Listener();
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...members }));
  upstream.send({ method: "POST", path: "/chat/completions", headers, body }, heard);
  await heard.ended.catch(() => {});
  return heard;
}

const asked = (told: FakeScript, members: object = {}): Promise<Listener> => ask({ content: script(told), ...members });
const stream = (told: FakeScript): Promise<Listener> =>
  asked(told, { stream: true, stream_options: { include_usage: true } });
const said = (heard: Listener): string =>
  [...heard.text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]).join("");

test.each([
  { name: "a header", ask: { headers: { "x-fake": '{"status":418}' } } },
  { name: "metadata", ask: { metadata: { fake: { status: 418 } } } },
  { name: "metadata as text", ask: { metadata: { fake: '{"status":418}' } } },
  { name: "the last user message", ask: { content: script({ status: 418 }) } },
  { name: "its parts", ask: { content: [{ type: "text", text: script({ status: 418 }) }] } },
])("is steered by $name", async ({ ask: how }) => {
  expect((await ask(how)).status).toBe(418);
});

describe("a stream", () => {
  test("is whole without a script, with its usage last", async () => {
    const heard = await stream({});
    expect(said(heard)).toBe("Hello from m.");
    expect(heard.text.match(/"prompt_tokens":10/g)).toHaveLength(1);
    expect(heard.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test.each([
    { name: "cut", told: { words: 9, cutAfter: 3 }, calls: ["head", "data", "error"], text: "word0 word1" },
    { name: "ended early", told: { words: 9, endAfter: 3 }, calls: ["head", "data", "end"], text: "word0 word1" },
    { name: "broken by an error", told: { words: 9, errorAfter: 2 }, calls: ["head", "data", "end"], text: "word0" },
    { name: "cut before the head", told: { cutAfter: 0 }, calls: ["error"], text: "" },
    {
      name: "in small pieces",
      told: { text: "größer", pieceBytes: 1 },
      calls: ["head", "data", "end"],
      text: "größer",
    },
  ])("can be $name", async ({ told, calls, text }) => {
    const heard = await stream(told);
    expect(heard.calls).toEqual(calls);
    expect(said(heard)).toBe(text);
    expect(heard.text.includes("[DONE]")).toBe(told.pieceBytes !== undefined);
    expect(heard.text.includes('"error"')).toBe(told.errorAfter !== undefined);
  });

  test.each([
    { usage: "none", times: 0 },
    { usage: "final", times: 1 },
    // The opening event, three words, and the finish.
    { usage: "every", times: 5 },
  ] as const)("tells its usage: $usage", async ({ usage, times }) => {
    const heard = await stream({ usage, words: 3, usageIs: { prompt_tokens: 77 } });
    expect(heard.text.match(/"prompt_tokens":77/g)?.length ?? 0).toBe(times);
  });

  test("can call tools and think", async () => {
    const heard = await stream({ thinking: "hm", calls: [{ name: "f", arguments: '{"a":1}' }] });
    expect(heard.text).toContain('"reasoning_content":"hm"');
    expect(heard.text).toContain('"finish_reason":"tool_calls"');
    expect([...heard.text.matchAll(/"arguments":"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]).join("")).toBe(
      String.raw`{\"a\":1}`,
    );
  });
});

describe("a whole answer", () => {
  test("can be cut, be other bytes, or say back what came", async () => {
    expect((await asked({ cutAfter: 1 })).calls).toEqual(["head", "data", "error"]);
    expect((await asked({ body: "<html>" })).text).toBe("<html>");
    const { text } = await asked({ echo: true }, { temperature: 0.5 });
    expect(text).toContain(String.raw`\"temperature\":0.5`);
  });

  test("can fail the first times only", async () => {
    const told: FakeScript = { status: 503, times: 2, id: "retry" };
    const statuses = [await asked(told), await asked(told), await asked(told)].map((heard) => heard.status);
    expect(statuses).toEqual([503, 503, 200]);
  });
});

test("keeps what came, and tells who left", async () => {
  const heard = new Listener();
  const body = Buffer.from(
    JSON.stringify({ marked: 1, messages: [{ role: "user", content: script({ hang: true }) }] }),
  );
  const marked = (request: { readonly body: unknown }): boolean => Reflect.has(Object(request.body), "marked");
  const exchange = upstream.send({ method: "POST", path: "/chat/completions", headers: { "x-a": "b" }, body }, heard);
  const seen = await fake.waitFor(marked);
  expect(seen.raw).toEqual(body);
  expect(seen.headers["x-a"]).toBe("b");
  exchange.abort();
  await fake.waitFor((request) => marked(request) && request.left);
  expect(seen.done).toBe(false);
});
