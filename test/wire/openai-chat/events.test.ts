/** Streams as clients are told them: errors inside, and typed steps written out. */
import { describe, expect, test } from "vitest";
import { type Event, FinishReason } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/openai-chat/index.js";
import { FACTS } from "./bodies.js";
import { chunk, fold, readStream, sse } from "./reading.js";

const ASKED = { ...FACTS, includeUsage: true };
const STOP = chunk({}, { finish_reason: "stop" });

describe("errors", () => {
  test.each<{ name: string; told: object | string; reason: string }>([
    {
      name: "OpenAI's",
      told: { error: { message: "m", type: "server_error", param: null, code: null } },
      reason: "ERROR_REASON_UPSTREAM_FAILED",
    },
    { name: "a bare string", told: { error: "boom" }, reason: "ERROR_REASON_UPSTREAM_FAILED" },
    {
      name: "beside choices",
      told: { ...chunk({ content: "x" }), error: { code: 429, message: "slow down" } },
      reason: "ERROR_REASON_UPSTREAM_RATE_LIMITED",
    },
    {
      name: "in a choice",
      told: chunk({ content: "" }, { error: { code: 503, message: "away" }, finish_reason: "error" }),
      reason: "ERROR_REASON_UPSTREAM_UNAVAILABLE",
    },
    { name: "as a reason", told: chunk({}, { finish_reason: "error" }), reason: "ERROR_REASON_UPSTREAM_FAILED" },
    {
      name: "vLLM's flat form",
      told: { object: "error", message: "maximum context length is 5 tokens", type: "BadRequestError", code: 400 },
      reason: "ERROR_REASON_CONTEXT_TOO_LONG",
    },
    { name: "no JSON", told: "{oops", reason: "ERROR_REASON_UPSTREAM_FAILED" },
    { name: "no object", told: "5", reason: "ERROR_REASON_UPSTREAM_FAILED" },
  ])("$name: what came before stays, and nothing after counts", ({ told, reason }) => {
    const before = sse(chunk({ content: "Hi" }));
    const bytes = Buffer.from(before + sse(told, chunk({ content: "late" }), STOP, "[DONE]"));
    for (const cuts of [[], [before.length], [10]]) {
      const read = readStream(bytes, FACTS, "source", cuts);
      expect(read.error?.reason).toBe(reason);
      expect(read.source).toBe(before);
      expect(read.report).toMatchObject({ text: "Hi", complete: false });
      expect(fold(readStream(bytes, FACTS, "events", cuts).events)).toMatchObject({ "0 text": "Hi" });
    }
  });

  test("a page of HTML is no stream", () => {
    for (const form of ["events", "source"] as const)
      expect(() => wire.decodeStream(FACTS, form).push(Buffer.from("\n <!doctype html><p>x"))).toThrow(GatewayError);
  });

  test("an error that comes whole in place of a stream is told", () => {
    const body = JSON.stringify({ error: { message: "x", type: "insufficient_quota", code: "insufficient_quota" } });
    const read = readStream(Buffer.from(body), FACTS, "source", [5]);
    expect(read.error?.cause).toMatchObject({ kind: "no_funds" });
    expect(read.source).toBe("");
  });

  test.each([
    { name: "between events", bytes: sse(chunk({ content: "Hi" })) },
    { name: "in an event", bytes: sse(chunk({ content: "Hi" }), STOP).slice(0, -20) },
    {
      name: "one candidate of two",
      bytes: sse(chunk({ content: "Hi" }), chunk({ content: "" }, { index: 1, finish_reason: "stop" })),
    },
    { name: "at once", bytes: "" },
  ])("a stream cut $name is not complete", ({ bytes }) => {
    const read = readStream(Buffer.from(bytes), FACTS, "source");
    expect(read.report.complete).toBe(false);
    expect(read.error).toBeUndefined();
  });

  test("a line without end is refused, within its bound", () => {
    const decoder = wire.decodeStream(FACTS, "source");
    decoder.push(Buffer.from("data: "));
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    expect(decoder.push(megabyte).error?.reason).toBe("ERROR_REASON_UPSTREAM_FAILED");
  });
});

describe("what a client is told", () => {
  const start: Event = {
    kind: { $case: "start", value: { id: "c-1", model: "up", createTime: new Date(5000), inputTokens: undefined } },
  };
  const text = (candidate: number, value: string): Event => ({
    kind: { $case: "text", value: { candidate, text: value } },
  });
  const usage = {
    inputTokens: 3n,
    cacheReadTokens: 2n,
    cacheWriteTokens: 0n,
    cacheWrite1hTokens: 0n,
    outputTokens: 4n,
    reasoningTokens: 1n,
    imageTokens: 0n,
    audioInputTokens: 0n,
    audioOutputTokens: 0n,
    meters: [],
  };
  const events: Event[] = [
    start,
    text(0, 'a"\n'),
    {
      kind: {
        $case: "toolCallStart",
        value: { candidate: 1, index: 4, id: "t", name: "f", custom: false, signature: undefined },
      },
    },
    { kind: { $case: "toolCallDelta", value: { candidate: 1, index: 4, arguments: "{}" } } },
    {
      kind: {
        $case: "candidateEnd",
        value: { candidate: 0, reason: FinishReason.FINISH_REASON_END, stopString: undefined },
      },
    },
    {
      kind: {
        $case: "candidateEnd",
        value: { candidate: 1, reason: FinishReason.FINISH_REASON_TOOL_CALLS, stopString: undefined },
      },
    },
    { kind: { $case: "finish", value: { usage, usageSource: 1, costNanos: 9n } } },
  ];
  const told = (facts: typeof FACTS): unknown[] =>
    wire
      .encodeStream(facts)
      .push(events)
      .toString()
      .split("\n\n")
      .filter((event) => event !== "")
      .map((event) => (event === "data: [DONE]" ? "[DONE]" : (JSON.parse(event.slice("data: ".length)) as unknown)));

  test("is OpenAI's grammar", () => {
    const base = { id: "c-1", object: "chat.completion.chunk", created: 5, model: "up" };
    const choice = (index: number, delta: object, reason: string | null = null): object => ({
      ...base,
      choices: [{ index, delta, logprobs: null, finish_reason: reason }],
    });
    const chunks = [
      choice(0, { role: "assistant", content: "", refusal: null }),
      choice(0, { content: 'a"\n' }),
      choice(1, { role: "assistant", content: null, refusal: null }),
      choice(1, { tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "" } }] }),
      choice(1, { tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
      choice(0, {}, "stop"),
      choice(1, {}, "tool_calls"),
    ];
    expect(told(FACTS)).toEqual([...chunks, "[DONE]"]);
    expect(told(ASKED)).toEqual([
      ...chunks.map((value) => Object.assign({}, value, { usage: null })),
      {
        ...base,
        choices: [],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 5,
          total_tokens: 10,
          prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 },
          completion_tokens_details: {
            reasoning_tokens: 1,
            audio_tokens: 0,
            accepted_prediction_tokens: 0,
            rejected_prediction_tokens: 0,
          },
        },
      },
      "[DONE]",
    ]);
  });

  test("a failure never looks complete", () => {
    const encoder = wire.encodeStream(FACTS);
    const bytes = encoder.fail(new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { model: "m" })).toString();
    expect(JSON.parse(bytes.slice("data: ".length))).toEqual({
      error: {
        message: "The upstream of the model 'm' was too slow.",
        type: "server_error",
        param: null,
        code: "upstream_timeout",
      },
    });
    expect(bytes.endsWith("\n\n")).toBe(true);
    expect(bytes).not.toContain("[DONE]");
  });

  test("is the same, whichever way the steps are batched", () => {
    const encoder = wire.encodeStream(ASKED);
    const single = Buffer.concat(events.map((event) => encoder.push([event]))).toString();
    expect(single).toBe(wire.encodeStream(ASKED).push(events).toString());
  });
});
