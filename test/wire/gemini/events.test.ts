/** Answers as an upstream tells them: ends, proofs, calls in pieces, errors inside, and what is no answer. */
import { describe, expect, test } from "vitest";
import { foldEvents } from "../../../src/api/answer-fold.js";
import { type Event, FinishReason } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { chunk, FACTS, readStream, sse } from "./reading.js";

const STOP = chunk([{ text: "" }], { finishReason: "STOP" });
const call = (name: string, rest: object = {}): object => ({ functionCall: { name, args: { a: 1 }, ...rest } });

const read = (...chunks: readonly (object | string)[]): ReturnType<typeof readStream> =>
  readStream(Buffer.from(sse(...chunks)), "events");
const partsOf = (events: readonly Event[]): unknown[] =>
  (foldEvents(events).candidates[0]?.message?.parts ?? []).map(({ kind }) => kind?.value);
const endOf = (events: readonly Event[]): FinishReason | undefined => foldEvents(events).candidates[0]?.finishReason;

test.each([
  { name: "STOP", end: FinishReason.FINISH_REASON_END },
  { name: "MAX_TOKENS", end: FinishReason.FINISH_REASON_LENGTH },
  { name: "SAFETY", end: FinishReason.FINISH_REASON_BLOCKED },
  { name: "RECITATION", end: FinishReason.FINISH_REASON_BLOCKED },
  { name: "PROHIBITED_CONTENT", end: FinishReason.FINISH_REASON_BLOCKED },
  { name: "IMAGE_SAFETY", end: FinishReason.FINISH_REASON_BLOCKED },
  { name: "CONTINUATION", end: FinishReason.FINISH_REASON_PAUSED },
  { name: "MALFORMED_FUNCTION_CALL", end: FinishReason.FINISH_REASON_MALFORMED },
  { name: "TOO_MANY_TOOL_CALLS", end: FinishReason.FINISH_REASON_MALFORMED },
  { name: "SOMETHING_NEW", end: FinishReason.FINISH_REASON_UNSPECIFIED },
])("$name ends a candidate", ({ name, end }) => {
  const streamed = read(chunk([{ text: "Hi" }], { finishReason: name }));
  expect(streamed.report.complete).toBe(true);
  expect(endOf(streamed.events)).toBe(end);
  const whole = wire.decodeAnswer(Buffer.from(JSON.stringify(chunk(undefined, { finishReason: name }))));
  expect(endOf(whole.events())).toBe(end);
});

test("a reason with every chunk ends nothing before the last", () => {
  const { events } = read(
    chunk([{ text: "a" }], { finishReason: "STOP" }),
    chunk([{ text: "b" }], { finishReason: "MAX_TOKENS" }),
  );
  expect(events.map(({ kind }) => kind?.$case)).toEqual(["start", "text", "text", "candidateEnd"]);
  expect(endOf(events)).toBe(FinishReason.FINISH_REASON_LENGTH);
});

test("an answer is whole once each of its candidates is", () => {
  const facts = { ...FACTS, candidateCount: 2 };
  const second = chunk([{ text: "b" }], { index: 1, finishReason: "STOP" });
  const complete = (...chunks: object[]): boolean =>
    readStream(Buffer.from(sse(...chunks)), "source", [], facts).report.complete;
  expect([complete(STOP), complete(second), complete(STOP, second)]).toEqual([false, false, true]);
});

test("each proof stays with its part", () => {
  const { events } = read(
    chunk([{ text: "Hmm", thought: true }]),
    chunk([{ text: ".", thought: true, thoughtSignature: "b25l" }]),
    chunk([{ text: "Hi", thoughtSignature: "dHdv" }]),
    chunk([{ text: "", thoughtSignature: "dGhyZWU=" }]),
    chunk([call("f"), { ...call("g"), thoughtSignature: "Zm91cg==" }]),
    STOP,
  );
  expect(partsOf(events)).toMatchObject([
    { text: "Hmm.", signature: "gemini:b25l" },
    { text: "Hi" },
    { text: "", signature: "gemini:dHdv" },
    { text: "", signature: "gemini:dGhyZWU=" },
    { name: "f", signature: undefined },
    { name: "g", signature: "Zm91cg==" },
  ]);
});

test("calls without ids get ids that nothing else in the conversation has", () => {
  const idsOf = (top: object): unknown[] => {
    const { events } = read(chunk([call("f"), call("f"), call("f", { id: "own" })], {}, top), STOP);
    return partsOf(events).map((part) => Reflect.get(Object(part), "id"));
  };
  const ids = [
    ...idsOf({}),
    ...idsOf({ responseId: "r-2" }),
    ...idsOf({ responseId: "", usageMetadata: { promptTokenCount: 9 } }),
  ];
  expect(new Set(ids).size).toBe(7);
  expect(idsOf({})).toEqual(idsOf({}));
  for (const id of ids) expect(id).toMatch(/^(own|call_[0-9a-f]{24})$/);
});

test("arguments that come in pieces are put together", () => {
  const piece = (partialArgs: object[], willContinue = true): object =>
    chunk([{ functionCall: { partialArgs, willContinue } }]);
  const { events, report } = read(
    chunk([{ functionCall: { name: "f", willContinue: true }, thoughtSignature: "c2ln" }]),
    piece([{ jsonPath: "$.city", stringValue: "New ", willContinue: true }]),
    piece([
      { jsonPath: "$.city", stringValue: "Delhi" },
      { jsonPath: "$.days[0]", numberValue: 1.5 },
    ]),
    piece([
      { jsonPath: "$.days[1].__proto__", boolValue: true },
      { jsonPath: "$['a b'].c", nullValue: "NULL_VALUE" },
    ]),
    chunk([{ functionCall: {} }]),
    chunk([{ functionCall: { name: "g" } }]),
    STOP,
  );
  expect(partsOf(events)).toMatchObject([
    {
      name: "f",
      signature: "c2ln",
      arguments: '{"city":"New Delhi","days":[1.5,{"__proto__":true}],"a b":{"c":null}}',
    },
    { name: "g", arguments: "{}" },
  ]);
  expect(report.text).toContain("New Delhi");
  expect(endOf(events)).toBe(FinishReason.FINISH_REASON_TOOL_CALLS);
});

test("a picture alone is an answer, and no empty one", () => {
  const { events, report } = read(chunk([{ inlineData: { mimeType: "image/png", data: "aGVsbG8=" } }]), STOP);
  expect(partsOf(events)).toMatchObject([
    { source: { value: { mediaType: "image/png", data: Buffer.from("hello") } } },
  ]);
  expect(report.made).toBe("content");
});

test("a refused prompt is an answer of nothing", () => {
  const refused = { promptFeedback: { blockReason: "OTHER" }, usageMetadata: { promptTokenCount: 5 } };
  const { events, report } = read(refused);
  expect(report).toMatchObject({ complete: true, text: "" });
  expect(endOf(events)).toBe(FinishReason.FINISH_REASON_BLOCKED);
  expect(endOf(wire.decodeAnswer(Buffer.from(JSON.stringify(refused))).events())).toBe(
    FinishReason.FINISH_REASON_BLOCKED,
  );
});

describe("errors", () => {
  const error = { code: 429, message: "Slow down.", status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "1.5s" }] };

  test("inside a stream: what came before stays, and nothing after counts", () => {
    const before = sse(chunk([{ text: "Hi" }]));
    const bytes = Buffer.from(before + sse({ error }, STOP));
    for (const cuts of [[], [before.length], [9]]) {
      const told = readStream(bytes, "source", cuts);
      expect(told.error?.reason).toBe("ERROR_REASON_UPSTREAM_RATE_LIMITED");
      expect(told.error?.retryAfterMs).toBe(1500);
      expect(told.source).toBe(before);
      expect(told.report).toMatchObject({ text: "Hi", complete: false });
    }
  });

  test.each([
    {
      name: "an error in place of a stream",
      body: JSON.stringify({ error }),
      reason: "ERROR_REASON_UPSTREAM_RATE_LIMITED",
    },
    { name: "an error in a list", body: JSON.stringify([{ error }]), reason: "ERROR_REASON_UPSTREAM_RATE_LIMITED" },
    { name: "no JSON", body: "data: {oops\n\n", reason: "ERROR_REASON_UPSTREAM_FAILED" },
    { name: "no object", body: "data: 5\n\n", reason: "ERROR_REASON_UPSTREAM_FAILED" },
  ])("$name", ({ body, reason }) => {
    expect(readStream(Buffer.from(body), "events", [3]).error?.reason).toBe(reason);
  });

  test("a page of HTML is no stream", () => {
    expect(() => wire.decodeStream(FACTS, "events").push(Buffer.from(" <html>"))).toThrow(GatewayError);
  });

  test.each(["", "[]", "{}", '{"candidates":[]}', "<html>", "[5]"])("%j is no whole answer", (body) => {
    expect(() => wire.decodeAnswer(Buffer.from(body))).toThrow(
      expect.objectContaining({ reason: "ERROR_REASON_UPSTREAM_FAILED" }),
    );
  });
});

test("a list of chunks in place of a stream is told as one", () => {
  const body = JSON.stringify([chunk([{ text: "Hi" }]), STOP]);
  const { source, report } = readStream(Buffer.from(body), "source", [7]);
  expect(report).toMatchObject({ text: "Hi", complete: true });
  expect(source).toBe(sse(chunk([{ text: "Hi" }]), STOP));
});

test.each([
  { name: "nothing", usage: {}, want: undefined },
  {
    name: "tools and a cache",
    usage: { promptTokenCount: 100, cachedContentTokenCount: 40, toolUsePromptTokenCount: 7, candidatesTokenCount: 5 },
    want: { inputTokens: 67n, cacheReadTokens: 40n, outputTokens: 5n },
  },
  {
    name: "pictures and sound, some of it cached",
    usage: {
      promptTokenCount: 100,
      cachedContentTokenCount: 30,
      promptTokensDetails: [
        { modality: "IMAGE", tokenCount: 50 },
        { modality: "AUDIO", tokenCount: 20 },
      ],
      cacheTokensDetails: [{ modality: "IMAGE", tokenCount: 30 }],
    },
    want: { inputTokens: 30n, cacheReadTokens: 30n, imageTokens: 20n, audioInputTokens: 20n, outputTokens: 0n },
  },
  {
    name: "thoughts alone",
    usage: { promptTokenCount: 9, thoughtsTokenCount: 20, totalTokenCount: 29 },
    want: { inputTokens: 9n, outputTokens: 0n, reasoningTokens: 20n },
  },
  {
    name: "lies",
    usage: { promptTokenCount: -5, candidatesTokenCount: 1e99, cachedContentTokenCount: 7, totalTokenCount: 3 },
    want: { inputTokens: 0n, cacheReadTokens: 3n, outputTokens: 0n },
  },
])("usage of $name", ({ usage, want }) => {
  const told = read(chunk([{ text: "x" }], {}, { usageMetadata: usage })).report.usage;
  if (want === undefined) expect(told).toBeUndefined();
  else expect(told).toMatchObject(want);
});

test("a client is told whole calls, and the usage with the one end, since a chunk without an answer is none", () => {
  const event = (kind: NonNullable<Event["kind"]>): Event => ({ kind });
  const start = { candidate: 0, index: 0, id: "c", name: "f", custom: false, signature: undefined };
  const usage = read(chunk([{ text: "x" }], {}, { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } }));
  const told = wire
    .encodeStream(FACTS)
    .push([
      event({ $case: "start", value: { id: "r", model: "m", createTime: undefined, inputTokens: undefined } }),
      event({ $case: "text", value: { candidate: 0, text: "H" } }),
      event({ $case: "text", value: { candidate: 0, text: "i" } }),
      event({ $case: "refusal", value: { candidate: 0, text: "!" } }),
      event({ $case: "toolCallStart", value: start }),
      event({ $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: '{"a":12345678901234567890' } }),
      event({ $case: "toolCallDelta", value: { candidate: 0, index: 0, arguments: "}" } }),
      event({
        $case: "candidateEnd",
        value: { candidate: 0, reason: FinishReason.FINISH_REASON_TOOL_CALLS, stopString: undefined },
      }),
      event({ $case: "finish", value: { usage: usage.report.usage, usageSource: 1, costNanos: 0n } }),
    ])
    .toString();
  const top = '"modelVersion":"m","responseId":"r"';
  const parts = '[{"text":"Hi!"},{"functionCall":{"id":"c","name":"f","args":{"a":12345678901234567890}}}]';
  const candidate = `{"content":{"parts":${parts},"role":"model"},"finishReason":"STOP","index":0}`;
  const counts = '{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}';
  expect(told).toBe(sse(`{"candidates":[${candidate}],"usageMetadata":${counts},${top}}`));
});
