/** A report is judged by what it is a report of: of all choices and all prompts, or it is too low to be true. */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import { type Charge, chargeOf, type ChargeTerms, type Ending } from "../../src/gateway/charge.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiCompletions } from "../../src/wire/openai-completions/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { AnswerReport, UpstreamWire, WireRequest } from "../../src/wire/wire.js";
import * as ofAnthropic from "../wire/anthropic/recordings.js";
import * as ofGemini from "../wire/gemini/recordings.js";
import * as ofChat from "../wire/openai-chat/recordings.js";
import { FREE } from "../pricing/prices.js";
import * as ofResponses from "../wire/openai-responses/recordings.js";

const TEXT = "One more word and another one, told by each of the choices that were asked for. ".repeat(4);
const CHOICE_TOKENS = encode(TEXT).length;
const PROMPT = "What became of the old gate behind the mill, and who was the last to close it?";
const PROMPT_TOKENS = encode(PROMPT).length;

const chat = (n: number): WireRequest =>
  openAiChat.readRequest({
    wire: "openai-chat",
    body: Buffer.from(JSON.stringify({ model: "m", n, stream: true, messages: [{ role: "user", content: PROMPT }] })),
    headers: {},
  });
const completion = (prompts: number, more: object = {}): WireRequest =>
  openAiCompletions.readRequest({
    wire: "openai-completions",
    body: Buffer.from(JSON.stringify({ model: "m", prompt: Array.from({ length: prompts }, () => PROMPT), ...more })),
    headers: {},
  });

const usageOf = (input: number, output: number): object => ({
  usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
});
const sse = (value: unknown): string => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

interface Row {
  readonly wire: UpstreamWire;
  readonly choice: (index: number, isStream: boolean) => object;
}
const CHAT: Row = {
  wire: openAiChat,
  choice: (index, isStream) => ({
    index,
    [isStream ? "delta" : "message"]: { role: "assistant", content: TEXT },
    finish_reason: "stop",
  }),
};
const COMPLETIONS: Row = {
  wire: openAiCompletions,
  choice: (index) => ({ index, text: TEXT, finish_reason: "stop" }),
};

/** What is known of an answer of so many choices that reports so much. */
function reportOf(
  { wire, choice }: Row,
  request: WireRequest,
  choices: number,
  usage: object,
  stream: boolean,
): AnswerReport {
  const all = Array.from({ length: choices }, (_, index) => choice(index, stream));
  if (!stream) return wire.decodeAnswer(Buffer.from(JSON.stringify({ id: "x", choices: all, ...usage }))).report;
  const decoder = wire.decodeStream(request.facts, "source", request);
  for (const one of all) decoder.push(Buffer.from(sse({ id: "x", choices: [one] })));
  decoder.push(Buffer.from(sse({ id: "x", choices: [], ...usage }) + sse("[DONE]")));
  return decoder.report;
}

async function charged(
  report: AnswerReport,
  request: WireRequest,
  modelId: string,
  ending: Ending = "finished",
): Promise<Charge> {
  const terms: ChargeTerms = {
    request,
    modelId,
    contextTokens: 1e6,
    price: FREE,
    accountId: "acme",
    inputTokensMax: 1e6,
  };
  return chargeOf(report, ending, terms);
}

describe.each([false, true])("streamed: %s", (stream) => {
  test.each([
    { name: "four choices of a chat", row: CHAT, request: chat(4), choices: 4 },
    { name: "two choices of a chat", row: CHAT, request: chat(2), choices: 2 },
    { name: "four choices of a completion", row: COMPLETIONS, request: completion(1, { n: 4 }), choices: 4 },
  ])("the usage of one of $name is replaced by a count, and marked", async ({ row, request, choices }) => {
    const report = reportOf(row, request, choices, usageOf(PROMPT_TOKENS, CHOICE_TOKENS), stream);
    // Of another tokenizer's model half a count may be true, and not fewer tokens than it has words.
    for (const modelId of ["gpt-4o", "one-of-somebody"]) {
      const { usage, usageSource, doubt } = await charged(report, request, modelId);
      expect({ usageSource, doubt }).toEqual({ usageSource: UsageSource.USAGE_SOURCE_COUNTED, doubt: "below_count" });
      expect(Number(usage.outputTokens)).toBeGreaterThanOrEqual(choices * CHOICE_TOKENS * 0.98);
      expect(Number(usage.inputTokens)).toBe(PROMPT_TOKENS);
    }
  });

  test("the usage of one of a hundred prompts is replaced by a count, of both sides", async () => {
    const request = completion(100);
    const report = reportOf(COMPLETIONS, request, 100, usageOf(PROMPT_TOKENS, CHOICE_TOKENS), stream);
    const { usage, doubt } = await charged(report, request, "gpt-4o");
    expect(doubt).toBe("below_count");
    // The line ends between prompts are taken away, also where they are part of another token.
    expect(Number(usage.inputTokens)).toBeGreaterThanOrEqual(100 * (PROMPT_TOKENS - 1));
    expect(Number(usage.outputTokens)).toBeGreaterThanOrEqual(100 * CHOICE_TOKENS * 0.98);
  });

  test.each([1, 4, 100])("the whole usage of %s prompts is believed", async (prompts) => {
    const request = completion(prompts);
    const told = usageOf(PROMPT_TOKENS * prompts, CHOICE_TOKENS * prompts);
    const charge = await charged(reportOf(COMPLETIONS, request, prompts, told, stream), request, "gpt-4o");
    expect(charge).toMatchObject({ usageSource: UsageSource.USAGE_SOURCE_REPORTED, doubt: undefined });
  });

  test("an answer that repeats its prompt reports what it generated", async () => {
    const request = completion(1, { echo: true });
    const row: Row = {
      ...COMPLETIONS,
      choice: (index) => ({ index, text: `${PROMPT} The miller.`, finish_reason: "stop" }),
    };
    const report = reportOf(row, request, 1, usageOf(PROMPT_TOKENS, 3), stream);
    expect((await charged(report, request, "gpt-4o")).doubt).toBeUndefined();
  });

  test("the usage of one of several choices that repeat their prompt is replaced by what was generated", async () => {
    const request = completion(1, { echo: true, n: 4 });
    const row: Row = { ...COMPLETIONS, choice: (index) => ({ index, text: PROMPT + TEXT, finish_reason: "stop" }) };
    const report = reportOf(row, request, 4, usageOf(PROMPT_TOKENS, CHOICE_TOKENS), stream);
    const { usage, doubt } = await charged(report, request, "gpt-4o");
    expect(doubt).toBe("below_count");
    expect(Math.abs(Number(usage.outputTokens) - 4 * CHOICE_TOKENS)).toBeLessThanOrEqual(4);
    const whole = reportOf(row, request, 4, usageOf(PROMPT_TOKENS, 4 * CHOICE_TOKENS), stream);
    expect((await charged(whole, request, "gpt-4o")).doubt).toBeUndefined();
  });

  test("an answer that repeats its prompt alone is charged by its report, which tells no output", async () => {
    const request = completion(1, { echo: true, max_tokens: 0 });
    const row: Row = { ...COMPLETIONS, choice: (index) => ({ index, text: PROMPT, finish_reason: "length" }) };
    const { usage, doubt } = await charged(reportOf(row, request, 1, usageOf(9, 0), stream), request, "gpt-4o");
    expect({ doubt, input: usage.inputTokens, output: usage.outputTokens }).toEqual({
      doubt: undefined,
      input: 9n,
      output: 0n,
    });
  });

  test("the usage of one of a hundred prompts that came as tokens is replaced by their number", async () => {
    const request = completion(1, { prompt: Array.from({ length: 100 }, () => [1, 2, 3, 4, 5]) });
    const report = reportOf(COMPLETIONS, request, 1, usageOf(5, CHOICE_TOKENS), stream);
    const { usage, doubt } = await charged(report, request, "gpt-4o");
    expect({ doubt, input: usage.inputTokens }).toEqual({ doubt: "below_count", input: 500n });
    const whole = reportOf(COMPLETIONS, request, 1, usageOf(500, CHOICE_TOKENS), stream);
    expect((await charged(whole, request, "gpt-4o")).doubt).toBeUndefined();
  });

  test("a tokenizer that makes a few tokens less is no lie", async () => {
    const request = chat(1);
    const report = reportOf(CHAT, request, 1, usageOf(PROMPT_TOKENS, Math.ceil(CHOICE_TOKENS * 0.97)), stream);
    expect((await charged(report, request, "gpt-4o")).doubt).toBeUndefined();
  });
});

/** A stream of so many choices, which was cut; each piece has the counts of its own choice. */
function cutOf(request: WireRequest, choices: number, counts: (index: number) => object): AnswerReport {
  const decoder = openAiCompletions.decodeStream(request.facts, "source", request);
  for (let index = 0; index < choices; index++)
    decoder.push(Buffer.from(sse({ id: "x", choices: [{ index, text: TEXT }], ...counts(index) })));
  return decoder.report;
}
const TIMINGS = { timings: { cache_n: 4, prompt_n: PROMPT_TOKENS - 4, predicted_n: CHOICE_TOKENS + 1 } };

test.each([
  { name: "a prompt", request: completion(1), choices: 1, inputs: 1 },
  { name: "choices of one prompt", request: completion(1, { n: 3 }), choices: 3, inputs: 1 },
  { name: "several prompts", request: completion(3), choices: 3, inputs: 3 },
])("a cut stream of $name costs the last counts of each choice", async ({ request, choices, inputs }) => {
  const { usage } = await charged(
    cutOf(request, choices, () => TIMINGS),
    request,
    "gpt-4o",
    "left",
  );
  expect(usage.outputTokens).toBe(BigInt(choices * (CHOICE_TOKENS + 1)));
  expect(usage.cacheReadTokens).toBe(BigInt(4 * inputs));
  expect(usage.inputTokens).toBe(BigInt((PROMPT_TOKENS - 4) * inputs));
});

test("a cut stream whose counts are of the last of several prompts costs all of them", async () => {
  const request = completion(20);
  const report = cutOf(request, 20, () => usageOf(PROMPT_TOKENS, CHOICE_TOKENS));
  const { usage } = await charged(report, request, "gpt-4o", "left");
  expect(Number(usage.inputTokens)).toBeGreaterThanOrEqual(20 * (PROMPT_TOKENS - 1));
  expect(Number(usage.outputTokens)).toBeGreaterThanOrEqual(20 * CHOICE_TOKENS * 0.98);
});

test("a cut answer that repeats its prompt is not charged what it repeats", async () => {
  const request = completion(1, { echo: true });
  const decoder = openAiCompletions.decodeStream(request.facts, "source", request);
  decoder.push(Buffer.from(sse({ id: "x", choices: [{ index: 0, text: PROMPT + TEXT }] })));
  const { usage } = await charged(decoder.report, request, "gpt-4o", "left");
  expect(Math.abs(Number(usage.outputTokens) - CHOICE_TOKENS)).toBeLessThanOrEqual(1);
});

test("a shown thought is no part of what must be reported: it may be a summary", async () => {
  const request = chat(1);
  const message = { role: "assistant", reasoning_content: TEXT, content: "Yes." };
  const body = { id: "x", choices: [{ index: 0, message, finish_reason: "stop" }], ...usageOf(PROMPT_TOKENS, 3) };
  const { report } = openAiChat.decodeAnswer(Buffer.from(JSON.stringify(body)));
  expect((await charged(report, request, "gpt-4o")).doubt).toBeUndefined();
});

test("many short prompts are no lie", async () => {
  const request = openAiCompletions.readRequest({
    wire: "openai-completions",
    body: Buffer.from(JSON.stringify({ model: "m", prompt: Array.from({ length: 200 }, () => "hi") })),
    headers: {},
  });
  const report = reportOf(COMPLETIONS, request, 1, usageOf(200, CHOICE_TOKENS), false);
  expect((await charged(report, request, "gpt-4o")).doubt).toBeUndefined();
});

interface Recorded {
  readonly name: string;
  readonly body: string | Buffer;
}
const RECORDED: readonly {
  readonly wire: UpstreamWire;
  readonly answers: readonly Recorded[];
  readonly streams: readonly Recorded[];
}[] = [
  { wire: openAiChat, answers: ofChat.answers, streams: ofChat.streams },
  { wire: openAiResponses, answers: ofResponses.answers, streams: ofResponses.streams },
  { wire: anthropic, answers: ofAnthropic.answers, streams: ofAnthropic.streams },
  { wire: gemini, answers: ofGemini.answers, streams: ofGemini.streams },
];

describe.each(RECORDED)(`$wire.name, ${ofChat.recordingsNote}`, ({ wire, answers, streams }) => {
  test("no vendor reports less than what it told", async () => {
    const request = chat(1);
    for (const { name, body } of streams) {
      const decoder = wire.decodeStream(request.facts, "source", request);
      if (decoder.push(Buffer.from(body)).error !== undefined) continue;
      decoder.end();
      expect((await charged(decoder.report, request, decoder.report.servedModel ?? "")).doubt, name).not.toBe(
        "below_count",
      );
    }
    for (const { name, body } of answers) {
      let report: AnswerReport;
      try {
        ({ report } = wire.decodeAnswer(Buffer.from(body)));
      } catch {
        continue;
      }
      expect((await charged(report, request, report.servedModel ?? "")).doubt, name).not.toBe("below_count");
    }
  });
});
