/** Every dialect of streams that is known means what it says. */
import { describe, expect, test } from "vitest";
import { FinishReason } from "../../../src/api/index.js";
import { FACTS } from "./bodies.js";
import { chunk, fold, readStream, sse } from "./reading.js";

const STOP = chunk({}, { finish_reason: "stop" });
const CALLS = chunk({}, { finish_reason: "tool_calls" });
const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
function typed(text: string): Record<string, unknown> {
  return fold(readStream(Buffer.from(text), FACTS, "events").events);
}

function call(fields: object): object {
  return chunk({ tool_calls: [fields] });
}

describe("dialects", () => {
  const start = { start: { id: "c-1", model: "up", createTime: new Date(1_700_000_000_000) } };
  const end = (reason: FinishReason, stopString?: string): object => ({
    "0 end": { candidate: 0, reason, stopString },
  });
  const ended = end(FinishReason.FINISH_REASON_END);
  const called = end(FinishReason.FINISH_REASON_TOOL_CALLS);
  const tool = (index: number, id: string, name: string, text: string, more: object = {}): object => ({
    [`0 call ${index}`]: { candidate: 0, index, id, name, custom: false, signature: undefined, ...more },
    ...(text === "" ? {} : { [`0 call ${index} arguments`]: text }),
  });

  test.each<{ name: string; stream: string; want: object }>([
    {
      name: "OpenAI's own",
      stream: sse(
        chunk({ role: "assistant", content: "", refusal: null }),
        chunk({ content: "Hi" }),
        chunk({ content: "!" }),
        STOP,
        "[DONE]",
      ),
      want: { ...start, "0 text": "Hi!", ...ended },
    },
    { name: "no [DONE]", stream: sse(chunk({ content: "Hi" }), STOP), want: { ...start, "0 text": "Hi", ...ended } },
    {
      name: "a first chunk without choices",
      stream: sse({ id: "", created: 0, choices: [] }, chunk({ content: "Hi" }), STOP),
      want: { ...start, "0 text": "Hi", ...ended },
    },
    {
      name: "no index, an empty role",
      stream: sse(
        chunk({ role: "", content: "Hi" }, { index: undefined }),
        chunk({}, { index: null, finish_reason: "stop" }),
      ),
      want: { ...start, "0 text": "Hi", ...ended },
    },
    {
      name: "a stop with every chunk",
      stream: sse(
        chunk({ content: "a" }, { finish_reason: "stop" }),
        chunk({ content: "b" }, { finish_reason: "stop" }),
      ),
      want: { ...start, "0 text": "ab", ...ended },
    },
    {
      name: "a refusal",
      stream: sse(chunk({ refusal: "No" }), chunk({ refusal: "." }), STOP),
      want: { ...start, "0 refusal": "No.", ...ended },
    },
    {
      name: "DeepSeek's thinking",
      stream: sse(
        chunk({ content: null, reasoning_content: "hm" }),
        chunk({ content: "Hi", reasoning_content: null }),
        STOP,
      ),
      want: { ...start, "0 thinking": "hm", "0 text": "Hi", ...ended },
    },
    {
      name: "Groq's thinking",
      stream: sse(chunk({ reasoning: "hm" }), STOP),
      want: { ...start, "0 thinking": "hm", ...ended },
    },
    {
      name: "the same thinking twice",
      stream: sse(chunk({ reasoning: "hm", reasoning_content: "hm" }), STOP),
      want: { ...start, "0 thinking": "hm", ...ended },
    },
    {
      name: "OpenRouter's thinking",
      stream: sse(
        chunk({ reasoning: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] }),
        chunk({ reasoning_details: [{ type: "reasoning.text", text: "", signature: "s" }] }),
        STOP,
      ),
      want: { ...start, "0 thinking": "hm", "0 signature": "s", ...ended },
    },
    {
      name: "Mistral's pieces",
      stream: sse(
        chunk({
          content: [
            {
              type: "thinking",
              thinking: [
                { type: "text", text: "h" },
                { type: "text", text: "m" },
              ],
            },
          ],
        }),
        chunk({ content: [{ type: "text", text: "Hi" }] }),
        STOP,
      ),
      want: { ...start, "0 thinking": "hm", "0 text": "Hi", ...ended },
    },
    {
      name: "two calls in fragments",
      stream: sse(
        call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } }),
        call({ index: 0, function: { arguments: '{"x' } }),
        call({ index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } }),
        call({ index: 0, id: "", function: { name: "", arguments: '":1}' } }),
        call({ index: 1, id: null, type: null, function: { name: null, arguments: "{}" } }),
        CALLS,
      ),
      want: { ...start, ...tool(0, "a", "f", '{"x":1}'), ...tool(1, "b", "g", "{}"), ...called },
    },
    {
      name: "calls without a number",
      stream: sse(
        call({
          id: "a",
          function: { name: "f", arguments: "{}" },
          extra_content: { google: { thought_signature: "s" } },
        }),
        call({ id: "b", function: { name: "f", arguments: "{" } }),
        call({ function: { arguments: "}" } }),
        STOP,
      ),
      want: { ...start, ...tool(0, "a", "f", "{}", { signature: "s" }), ...tool(1, "b", "f", "{}"), ...called },
    },
    {
      name: "calls that share a number",
      stream: sse(
        call({ index: 0, id: "a", function: { name: "f", arguments: "{}" } }),
        call({ index: 0, id: "b", function: { name: "f", arguments: "{}" } }),
        STOP,
      ),
      want: { ...start, ...tool(0, "a", "f", "{}"), ...tool(1, "b", "f", "{}"), ...called },
    },
    {
      name: "numbers with gaps",
      stream: sse(
        call({ index: 3, id: "a", function: { name: "f" } }),
        call({ index: 7, id: "b", function: { name: "g" } }),
        call({ index: 3, function: { arguments: "x" } }),
        CALLS,
      ),
      want: { ...start, ...tool(0, "a", "f", "x"), ...tool(1, "b", "g", ""), ...called },
    },
    {
      name: "arguments as an object",
      stream: sse(call({ index: 0, id: "a", function: { name: "f", arguments: { x: [1] } } }), CALLS),
      want: { ...start, ...tool(0, "a", "f", '{"x":[1]}'), ...called },
    },
    {
      name: "a name that comes late",
      stream: sse(
        call({ index: 0, id: "a", function: { arguments: "{" } }),
        call({ index: 0, function: { name: "f", arguments: "}" } }),
        CALLS,
      ),
      want: { ...start, ...tool(0, "a", "f", "{}"), ...called },
    },
    {
      name: "a custom tool",
      stream: sse(
        call({ index: 0, id: "a", type: "custom", custom: { name: "f", input: "l" } }),
        call({ index: 0, custom: { input: "s" } }),
        CALLS,
      ),
      want: { ...start, ...tool(0, "a", "f", "ls", { custom: true }), ...called },
    },
    {
      name: "calls that never came",
      stream: sse(chunk({ content: "Hi" }), CALLS),
      want: { ...start, "0 text": "Hi", ...ended },
    },
    {
      name: "two candidates",
      stream: sse(
        chunk({ content: "a" }),
        chunk({ content: "b" }, { index: 1 }),
        chunk({}, { index: 1, finish_reason: "length" }),
        STOP,
      ),
      want: {
        ...start,
        "0 text": "a",
        "1 text": "b",
        ...ended,
        "1 end": { candidate: 1, reason: FinishReason.FINISH_REASON_LENGTH, stopString: undefined },
      },
    },
    {
      name: "vLLM's stop string",
      stream: sse(chunk({ content: "a" }), chunk({}, { finish_reason: "stop", stop_reason: "END" })),
      want: { ...start, "0 text": "a", ...end(FinishReason.FINISH_REASON_STOP_STRING, "END") },
    },
    {
      name: "a filter",
      stream: sse(chunk({ content: "a" }), chunk({}, { finish_reason: "content_filter" })),
      want: { ...start, "0 text": "a", ...end(FinishReason.FINISH_REASON_BLOCKED) },
    },
    {
      name: "probabilities",
      stream: sse(
        chunk(
          { content: "é" },
          {
            logprobs: {
              content: [
                {
                  token: "é",
                  logprob: -0.5,
                  bytes: [195, 169],
                  top_logprobs: [{ token: "\ufffd", logprob: -1, bytes: [195] }],
                },
              ],
              refusal: null,
            },
          },
        ),
        STOP,
      ),
      want: {
        ...start,
        "0 text": "é",
        "0 logprobs": [
          {
            token: "é",
            logprob: -0.5,
            rawBytes: undefined,
            top: [{ token: "\ufffd", logprob: -1, rawBytes: Buffer.from([195]), top: [] }],
          },
        ],
        ...ended,
      },
    },
    {
      name: "sound",
      stream: sse(
        chunk({ audio: { id: "s", transcript: "He" } }),
        chunk({ audio: { data: "aGU=", transcript: "y" } }),
        chunk({ audio: { data: "eQ==" } }),
        STOP,
      ),
      want: {
        ...start,
        "0 part 1": {
          kind: {
            $case: "audio",
            value: {
              source: { $case: "inline", value: { mediaType: "audio/*", data: Buffer.from("hey") } },
              transcript: "Hey",
            },
          },
          cacheMark: undefined,
        },
        ...ended,
      },
    },
    {
      name: "an answer that came whole",
      stream: JSON.stringify({
        id: "c-1",
        created: 1700000000,
        model: "up",
        choices: [{ message: { content: "Hi" }, finish_reason: "stop" }],
      }),
      want: { ...start, "0 text": "Hi", ...ended },
    },
  ])("$name", ({ stream, want }) => {
    expect(typed(stream)).toEqual(want);
    const read = readStream(Buffer.from(stream), FACTS, "source", [3, 40]);
    expect(read.report.complete).toBe(true);
    expect(read.error).toBeUndefined();
    expect(read.visible).toBe(true);
  });

  test("a call in the older form, and calls without ids, get ids that differ", () => {
    const older = typed(
      sse(
        chunk({ function_call: { name: "f", arguments: "{" } }),
        chunk({ function_call: { arguments: "}" } }),
        chunk({}, { finish_reason: "function_call" }),
      ),
    );
    expect(older).toMatchObject({ "0 call 0": { name: "f" }, "0 call 0 arguments": "{}", ...called });
    const bare = call({ function: { name: "f", arguments: "{}" } });
    const two = typed(sse(bare, bare, CALLS));
    expect(two).toMatchObject({ "0 call 0 arguments": "{}", "0 call 1 arguments": "{}" });
    const ids = [two["0 call 0"], two["0 call 1"], older["0 call 0"]].map((value) => (value as { id: string }).id);
    expect(ids.every((id) => /^call_[0-9a-f]{24}$/.test(id))).toBe(true);
    expect(ids[0]).not.toBe(ids[1]);
  });

  test("the text for the meter holds everything that was generated", () => {
    const stream = sse(
      chunk({ reasoning: "t" }),
      chunk({ content: "c" }),
      chunk({ refusal: "r" }),
      call({ index: 0, id: "a", function: { name: "n", arguments: "{}" } }),
      chunk({ content: "2" }, { index: 1 }),
    );
    for (const form of ["events", "source"] as const)
      expect(readStream(Buffer.from(stream), FACTS, form).report.text).toBe("tcrn{}2");
  });
});

describe("usage", () => {
  const inner = { queue_time: 1, ...USAGE };
  test.each<{ name: string; stream: string }>([
    { name: "in its own chunk", stream: sse(STOP, { choices: [], usage: USAGE }, "[DONE]") },
    { name: "on the last chunk", stream: sse(chunk({}, { finish_reason: "stop" }, { usage: USAGE })) },
    {
      name: "on every chunk, where the last counts",
      stream: sse(
        chunk({ content: "a" }, {}, { usage: { prompt_tokens: 5, completion_tokens: 1 } }),
        chunk({}, { finish_reason: "stop" }, { usage: USAGE }),
      ),
    },
    { name: "Groq's", stream: sse(chunk({}, { finish_reason: "stop" }, { x_groq: { usage: inner } })) },
    { name: "in the choice", stream: sse(chunk({}, { finish_reason: "stop", usage: USAGE })) },
    {
      name: "before a null",
      stream: sse(chunk({}, {}, { usage: USAGE }), chunk({}, { finish_reason: "stop" }, { usage: null })),
    },
  ])("$name", ({ stream }) => {
    for (const form of ["events", "source"] as const) {
      const { report } = readStream(Buffer.from(stream), FACTS, form);
      expect(report.usage).toMatchObject({ inputTokens: 5n, outputTokens: 2n });
      expect(report.complete).toBe(true);
    }
  });
});
