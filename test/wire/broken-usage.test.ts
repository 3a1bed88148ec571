/** Every wire says where an upstream's usage holds what can be no count, so that nobody is charged by it. */
import { expect, test } from "vitest";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openaiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openaiResponses } from "../../src/wire/openai-responses/index.js";

const WIRES = [
  {
    wire: openaiChat,
    answer: (input: unknown, output: unknown) => ({
      choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: input, completion_tokens: output },
    }),
  },
  {
    wire: openaiResponses,
    answer: (input: unknown, output: unknown) => ({
      object: "response",
      status: "completed",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] }],
      usage: { input_tokens: input, output_tokens: output },
    }),
  },
  {
    wire: anthropic,
    answer: (input: unknown, output: unknown) => ({
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      usage: { input_tokens: input, output_tokens: output },
    }),
  },
  {
    wire: gemini,
    answer: (input: unknown, output: unknown) => ({
      candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
    }),
  },
];

const COUNTS = [
  { count: 4, broken: false },
  { count: 0, broken: false },
  { count: null, broken: false },
  { count: -4, broken: true },
  { count: 4.5, broken: true },
  { count: 1e300, broken: true },
  { count: "NaN", broken: true },
  { count: {}, broken: true },
];

const CASES = WIRES.flatMap(({ wire, answer }) =>
  COUNTS.map(({ count, broken }) => ({ name: wire.name, wire, answer, count, broken })),
);

test.each(CASES)("$name: a count of $count is broken: $broken", ({ wire, answer, count, broken }) => {
  const report = (input: unknown, output: unknown): boolean | undefined =>
    wire.decodeAnswer(Buffer.from(JSON.stringify(answer(input, output)))).report.usageBroken;
  expect(report(count, 3)).toBe(broken);
  expect(report(3, count)).toBe(broken);
});
