/** Chunks that repeat the one before them in all but a text are not parsed: it makes no difference to anybody. */
import { fc } from "../../support/seeds.js";
import { expect, test, vi } from "vitest";
import type { AnswerForm } from "../../../src/wire/wire.js";
import { FACTS } from "./bodies.js";
import { chunk, readStream, sse } from "./reading.js";
import { bySweep } from "../../support/sweep.js";

/** It is parsed and says nothing, so that whatever follows it repeats no text. */
const PARSED = sse({ choices: [], separates: true });

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(" token", "\n", "", 'a "word"', "é😀", "\\", "\ud83d") },
  fc.string({ unit: "binary", maxLength: 5 }),
);
/** What a server adds to all its chunks, to some, or to none. */
const rest = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  fc.constantFrom<object>(
    { index: 1 },
    { finish_reason: "stop" },
    { finish_reason: "length", stop_reason: "###" },
    { finish_reason: undefined },
    { logprobs: null },
    { logprobs: { content: [{ token: "a", logprob: -0.5, bytes: [97], top_logprobs: [] }], refusal: null } },
    { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    { error: { message: "broken" } },
  ),
);
const top = fc.oneof(
  { weight: 12, arbitrary: fc.constant({}) },
  fc.constantFrom<object>(
    { usage: null },
    { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
    { x_groq: { usage: { prompt_tokens: 7, completion_tokens: 8, total_tokens: 15 } } },
    { service_tier: "default" },
    { service_tier: "flex" },
    { obfuscation: "aZ3" },
    { obfuscation: 5 },
    { error: null },
    { error: { message: "slow down", code: 429 } },
  ),
);
const delta = fc.oneof(
  { weight: 12, arbitrary: text.map((content) => ({ content })) },
  text.chain((said) =>
    fc.constantFrom<object>(
      { role: "assistant", content: said },
      { content: said, refusal: null },
      { content: said, reasoning_content: "why" },
      { content: said, annotations: [{ type: "url_citation" }] },
      { content: said, audio: { data: "AAAA", transcript: said } },
      {
        content: said,
        tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: said } }],
      },
      { content: [{ type: "text", text: said }] },
      { reasoning: said },
      { refusal: said },
      {},
    ),
  ),
);
const chunks = fc.array(
  fc.tuple(delta, rest, top, fc.nat({ max: 9 })).map(([said, more, head, indent]) => {
    const told = chunk(said, more, head);
    return sse(indent === 0 ? JSON.stringify(told).replaceAll(":", ": ") : told);
  }),
  { maxLength: 30 },
);

test("an answer is the same whether its chunks were parsed one by one or not", () => {
  const forms = fc.constantFrom<AnswerForm>("events", "source", "fitted");
  fc.assert(
    fc.property(chunks, forms, fc.boolean(), fc.boolean(), (events, form, includeUsage, isDone) => {
      const facts = { ...FACTS, includeUsage };
      const end = isDone ? sse("[DONE]") : "";
      const bytesOf = (between: string): Buffer => Buffer.from(events.join(between) + end);
      const [read, parsed] = [readStream(bytesOf(""), facts, form), readStream(bytesOf(PARSED), facts, form)];
      expect(read.events).toEqual(parsed.events);
      expect(read.source).toBe(parsed.source.replaceAll(PARSED, ""));
      expect(read.error).toEqual(parsed.error);
      expect(read.visible).toBe(parsed.visible);
      for (const name of ["made", "text", "usage", "complete", "servedModel", "serviceTier", "nonTextTokens"] as const)
        expect(read.report[name]).toEqual(parsed.report[name]);
    }),
    { numRuns: bySweep({ short: 400, long: 1_500, all: 1_500 }) },
  );
});

test("of a long answer hardly any chunk is parsed, though each hides its length, and some have line ends", () => {
  const events = Array.from({ length: 500 }, (_, place) =>
    chunk(
      { content: place % 9 === 0 ? "\n" : ` word ${place}` },
      {},
      { usage: null, obfuscation: "x".repeat(place % 7) },
    ),
  );
  const parse = vi.spyOn(JSON, "parse");
  const { report } = readStream(Buffer.from(sse(...events)), FACTS, "source");
  const whole = parse.mock.calls.filter(([json]) => json.startsWith("{"));
  parse.mockRestore();
  expect(report.text).toContain(" word 499");
  expect(whole.length).toBeLessThan(5);
});
