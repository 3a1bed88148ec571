/** Whole answers, both directions. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  type Candidate,
  type TokenLogprob,
  FinishReason,
  type Part,
  Role,
} from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/openai-chat/index.js";
import { fold } from "./reading.js";

function decode(body: unknown): ReturnType<typeof wire.decodeAnswer> {
  return wire.decodeAnswer(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
}

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const plain = (kind: NonNullable<Part["kind"]>): Part => ({ kind, cacheMark: undefined });

/** One candidate, as far as the wire models it: at most one text, and its calls behind it. */
const candidate = fc
  .record({
    thinking: fc.option(fc.record({ text, signature: fc.option(text, { nil: undefined }) })),
    text: fc.option(text),
    refusal: fc.option(text),
    calls: fc.array(
      fc.record({
        id: text,
        name: text,
        arguments: text,
        custom: fc.boolean(),
        signature: fc.option(text, { nil: undefined }),
      }),
      { maxLength: 2 },
    ),
    isCut: fc.boolean(),
    tokens: fc.array(
      fc.record({
        token: text,
        logprob: fc.integer({ min: -9, max: 0 }).map((value) => value + 0),
        rawBytes: fc.constant(undefined),
        top: fc.constant<TokenLogprob[]>([]),
      }),
      { maxLength: 2 },
    ),
  })
  .map((parts): Omit<Candidate, "index"> => {
    const made: Part[] = [];
    if (parts.thinking !== null) made.push(plain({ $case: "thinking", value: parts.thinking }));
    if (parts.text !== null) made.push(plain({ $case: "text", value: { text: parts.text, citationsJson: undefined } }));
    if (parts.refusal !== null) made.push(plain({ $case: "refusal", value: { text: parts.refusal } }));
    made.push(...parts.calls.map((value) => plain({ $case: "toolCall", value })));
    const reason = parts.calls.length > 0 ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END;
    return {
      message: { role: Role.ROLE_ASSISTANT, parts: made, name: undefined, extraJson: undefined },
      finishReason: parts.isCut ? FinishReason.FINISH_REASON_LENGTH : reason,
      stopString: undefined,
      logprobs: parts.tokens.length === 0 ? undefined : { candidate: 0, content: parts.tokens, refusal: [] },
    };
  });

const answer = fc.array(candidate, { minLength: 1, maxLength: 3 }).map((candidates): Answer => ({
  id: "c-1",
  model: "up",
  createTime: new Date(1_700_000_000_000),
  candidates: candidates.map((value, index) => ({ ...value, index })),
  usage: undefined,
  usageSource: 0,
  costNanos: 0n,
}));

/** What the steps of an answer must tell. */
function told(value: Answer): Record<string, unknown> {
  const want: Record<string, unknown> = { start: { id: value.id, model: value.model, createTime: value.createTime } };
  for (const { index, message, finishReason, logprobs } of value.candidates) {
    let calls = 0;
    for (const { kind } of message?.parts ?? []) {
      if (kind?.$case === "text" || kind?.$case === "refusal") want[`${index} ${kind.$case}`] = kind.value.text;
      else if (kind?.$case === "thinking") {
        want[`${index} thinking`] = kind.value.text;
        if (kind.value.signature !== undefined) want[`${index} signature`] = kind.value.signature;
      } else if (kind?.$case === "toolCall") {
        const { arguments: written, ...start } = kind.value;
        want[`${index} call ${calls}`] = { ...start, candidate: index, index: calls };
        want[`${index} call ${calls}${" arguments"}`] = written;
        calls++;
      }
    }
    if (logprobs !== undefined) want[`${index} logprobs`] = logprobs.content;
    want[`${index} end`] = { candidate: index, reason: finishReason, stopString: undefined };
  }
  return want;
}

test("decode(encode(answer)) = answer, whole and streamed", () => {
  const facts = wire.readRequest({
    wire: wire.name,
    body: Buffer.from('{"model":"m","messages":[{"role":"user"}],"stream":true}'),
    headers: {},
  }).facts;
  fc.assert(
    fc.property(answer, (value) => {
      const whole = wire.decodeAnswer(wire.encodeAnswer(value));
      expect(fold(whole.events())).toEqual(told(value));
      const decoder = wire.decodeStream(facts, "events");
      const streamed = decoder.push(wire.encodeStream(facts).push(whole.events()));
      expect(fold([...streamed.events, ...decoder.end().events])).toEqual(told(value));
    }),
  );
});

test("an answer has every key that clients look for", () => {
  const parts = [plain({ $case: "text", value: { text: "Hi", citationsJson: '[{"type":"url_citation"}]' } })];
  const value: Answer = {
    id: "c-1",
    model: "up",
    createTime: new Date(5999),
    candidates: [
      {
        index: 0,
        message: { role: Role.ROLE_ASSISTANT, parts, name: undefined, extraJson: undefined },
        finishReason: FinishReason.FINISH_REASON_STOP_STRING,
        stopString: "END",
        logprobs: undefined,
      },
    ],
    usage: {
      inputTokens: 1n,
      cacheReadTokens: 0n,
      cacheWriteTokens: 0n,
      cacheWrite1hTokens: 2n,
      outputTokens: 3n,
      reasoningTokens: 0n,
      imageTokens: 0n,
      audioInputTokens: 0n,
      audioOutputTokens: 0n,
      meters: [],
    },
    usageSource: 1,
    costNanos: 7n,
  };
  const body = wire.encodeAnswer(value);
  expect(JSON.parse(body.toString())).toEqual({
    id: "c-1",
    object: "chat.completion",
    created: 5,
    model: "up",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "Hi", refusal: null, annotations: [{ type: "url_citation" }] },
        logprobs: null,
        finish_reason: "stop",
        stop_reason: "END",
      },
    ],
    usage: {
      prompt_tokens: 3,
      completion_tokens: 3,
      total_tokens: 6,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0, cache_write_tokens: 2 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
  });
  const part = { kind: { $case: "part", value: { candidate: 0, part: parts[0] } } };
  expect(wire.decodeAnswer(body).events()).toContainEqual(part);
});

describe("what is no answer", () => {
  test.each([
    ["HTML", "<html>502</html>", "ERROR_REASON_UPSTREAM_FAILED"],
    ["nothing", "", "ERROR_REASON_UPSTREAM_FAILED"],
    ["a list", [], "ERROR_REASON_UPSTREAM_FAILED"],
    ["no choices", { id: "x" }, "ERROR_REASON_UPSTREAM_FAILED"],
    ["empty choices", { choices: [] }, "ERROR_REASON_UPSTREAM_FAILED"],
    ["an error on 200", { error: { message: "m", code: 429 } }, "ERROR_REASON_UPSTREAM_RATE_LIMITED"],
    [
      "an error in a choice",
      { choices: [{ error: { code: 503, message: "m" } }] },
      "ERROR_REASON_UPSTREAM_UNAVAILABLE",
    ],
    [
      "an end in error",
      { choices: [{ message: { content: "x" }, finish_reason: "error" }] },
      "ERROR_REASON_UPSTREAM_FAILED",
    ],
  ])("%s", (_name, body, reason) => {
    let thrown: unknown;
    try {
      decode(body);
    } catch (error) {
      thrown = error;
    }
    expect(GatewayError.from(thrown).reason).toBe(reason);
  });
});

test("an answer without a reason is whole", () => {
  const read = decode({ choices: [{ message: { content: "Hi" } }] });
  expect(read.report).toMatchObject({ text: "Hi", complete: true, usage: undefined });
});
