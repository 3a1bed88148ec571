/** Which reports of a usage cannot be true, and which are believed. */
import { expect, test } from "vitest";
import type { Usage } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { doubtOf, isTooLow, type UsageDoubt, withCountedOutput } from "../../src/gateway/usage-doubt.js";
import type { AnswerReport } from "../../src/wire/wire.js";

const READ = { inputTokens: 10n };
const BOTH = { ...READ, outputTokens: 5n };
const CONTEXT_TOKENS = 1_000;
const UNKNOWN_CONTEXT = 0;

interface Told {
  readonly usage?: Partial<Usage> | undefined;
  readonly text?: string;
  readonly grownLength?: number;
  readonly made?: AnswerReport["made"];
  readonly broken?: boolean;
  readonly contextTokens?: number;
  readonly cut?: boolean;
}

function reportOf({ usage, text = "", grownLength, made = "content", broken = false }: Told): AnswerReport {
  const grown = { length: grownLength ?? 0, keptLength: 0, keptBytes: 0, from: () => "", drop: () => undefined };
  return {
    made,
    usage: usage === undefined ? undefined : { ...NO_USAGE, ...usage },
    complete: true,
    text,
    ...(grownLength === undefined ? {} : { grown }),
    ...(broken ? { usageBroken: true } : {}),
  };
}

test.each<{ name: string; told: Told; want: UsageDoubt | undefined }>([
  { name: "a usage of both sides", told: { usage: BOTH, text: "hi" }, want: undefined },
  { name: "none behind a whole answer", told: { text: "hi" }, want: "missing" },
  { name: "none behind a cut one, which never came to tell it", told: { text: "hi", cut: true }, want: undefined },
  { name: "what can be no count", told: { usage: BOTH, broken: true }, want: "broken" },
  { name: "what can be no count, of a cut answer", told: { broken: true, cut: true }, want: "broken" },
  { name: "nothing at all for some content", told: { usage: {} }, want: "zero" },
  { name: "nothing at all for nothing", told: { usage: {}, made: "nothing" }, want: undefined },
  { name: "nothing generated for a text", told: { usage: READ, text: "hi" }, want: "zero" },
  { name: "nothing generated for a text that is kept no more", told: { usage: READ, grownLength: 3 }, want: "zero" },
  { name: "nothing generated for no text", told: { usage: READ, grownLength: 0 }, want: undefined },
  { name: "only its input for a text that was cut", told: { usage: READ, text: "hi", cut: true }, want: undefined },
  { name: "nothing read for a text", told: { usage: { outputTokens: 5n }, text: "hi" }, want: "zero" },
  {
    name: "nothing read for a text that was cut",
    told: { usage: { outputTokens: 5n }, text: "hi", cut: true },
    want: "zero",
  },
  { name: "a cached input", told: { usage: { cacheReadTokens: 9n, outputTokens: 1n }, text: "hi" }, want: undefined },
  {
    name: "a hundred contexts",
    told: { usage: { inputTokens: 99_999n, outputTokens: 1n }, text: "hi" },
    want: undefined,
  },
  {
    name: "more than a hundred contexts",
    told: { usage: { inputTokens: 100_000n, outputTokens: 1n }, text: "hi" },
    want: "absurd",
  },
  {
    name: "as much of a model whose context nobody knows",
    told: { usage: { inputTokens: 100_000n, outputTokens: 1n }, text: "hi", contextTokens: UNKNOWN_CONTEXT },
    want: undefined,
  },
  {
    name: "a billion of such a model",
    told: { usage: { inputTokens: 1_000_000_001n, outputTokens: 1n }, text: "hi", contextTokens: UNKNOWN_CONTEXT },
    want: "absurd",
  },
])("$name: $want", ({ told, want }) => {
  expect(doubtOf(reportOf(told), told.contextTokens ?? CONTEXT_TOKENS, told.cut !== true)).toBe(want);
});

test.each([
  { generated: 50n, counted: 100, certain: 50, want: false },
  { generated: 49n, counted: 100, certain: 50, want: true },
  { generated: 0n, counted: 0, certain: 0, want: false },
  { generated: 0n, counted: 1, certain: 0, want: true },
  { generated: 880n, counted: 932, certain: 932, want: false },
  { generated: 880n, counted: 933, certain: 933, want: true },
])(
  "$generated generated tokens are too low for a text of $counted, of which $certain are certain: $want",
  ({ generated, counted, certain, want }) => {
    expect(isTooLow(generated, { tokens: counted, certainTokens: certain })).toBe(want);
  },
);

test("what is counted takes the place of all that was generated, and of nothing that was read", () => {
  const told = {
    ...NO_USAGE,
    ...READ,
    cacheReadTokens: 4n,
    outputTokens: 1n,
    reasoningTokens: 2n,
    audioOutputTokens: 3n,
  };
  expect(withCountedOutput(told, { tokens: 7, audioTokens: 8 })).toEqual({
    ...NO_USAGE,
    ...READ,
    cacheReadTokens: 4n,
    outputTokens: 7n,
    audioOutputTokens: 8n,
  });
});
