/** Usage: every token in exactly one field, nothing negative, whatever an upstream says. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { Usage } from "../../../src/api/index.js";
import { decodeUsage, encodeUsage } from "../../../src/wire/openai/answer/usage.js";

const NONE: Usage = {
  inputTokens: 0n,
  cacheReadTokens: 0n,
  cacheWriteTokens: 0n,
  cacheWrite1hTokens: 0n,
  outputTokens: 0n,
  reasoningTokens: 0n,
  imageTokens: 0n,
  audioInputTokens: 0n,
  audioOutputTokens: 0n,
  meters: [],
};

describe("what upstreams say", () => {
  test.each<{ name: string; said: unknown; want: Partial<Usage> | undefined }>([
    {
      name: "totals alone",
      said: { prompt_tokens: 10, completion_tokens: 4 },
      want: { inputTokens: 10n, outputTokens: 4n },
    },
    {
      name: "thoughts in the total alone, as Google's address for OpenAI's clients",
      said: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 64 },
      want: { inputTokens: 10n, outputTokens: 4n, reasoningTokens: 50n },
    },
    {
      name: "a total below its parts",
      said: { prompt_tokens: 10, completion_tokens: 4, total_tokens: 3 },
      want: { inputTokens: 10n, outputTokens: 4n },
    },
    {
      name: "all details of OpenAI",
      said: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10, audio_tokens: 5, image_tokens: 15 },
        completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 8, accepted_prediction_tokens: 3 },
      },
      want: {
        inputTokens: 30n,
        cacheReadTokens: 40n,
        cacheWriteTokens: 10n,
        audioInputTokens: 5n,
        imageTokens: 15n,
        outputTokens: 12n,
        reasoningTokens: 30n,
        audioOutputTokens: 8n,
      },
    },
    {
      name: "DeepSeek's cache",
      said: { prompt_tokens: 339, completion_tokens: 83, prompt_cache_hit_tokens: 320, prompt_cache_miss_tokens: 19 },
      want: { inputTokens: 19n, cacheReadTokens: 320n, outputTokens: 83n },
    },
    {
      name: "reasoning beside the completion",
      said: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      want: { inputTokens: 10n, outputTokens: 5n, reasoningTokens: 20n },
    },
    {
      name: "more details than total",
      said: {
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 8, audio_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 9 },
      },
      want: { cacheReadTokens: 8n, audioInputTokens: 2n, reasoningTokens: 5n },
    },
    {
      name: "no completion",
      said: { prompt_tokens: 10, total_tokens: 14 },
      want: { inputTokens: 10n, outputTokens: 4n },
    },
    {
      name: "no prompt",
      said: { completion_tokens: 4, total_tokens: 14 },
      want: { inputTokens: 10n, outputTokens: 4n },
    },
    { name: "a prompt alone", said: { prompt_tokens: 10 }, want: { inputTokens: 10n } },
    {
      name: "fractions",
      said: { prompt_tokens: 10.9, completion_tokens: 4.2 },
      want: { inputTokens: 10n, outputTokens: 4n },
    },
    { name: "less than nothing", said: { prompt_tokens: -1, completion_tokens: 4 }, want: { outputTokens: 4n } },
    { name: "the absurd", said: { prompt_tokens: 1e13, completion_tokens: 4 }, want: { outputTokens: 4n } },
    { name: "texts", said: { prompt_tokens: "10", completion_tokens: 4 }, want: { outputTokens: 4n } },
    {
      name: "null details",
      said: { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: null },
      want: { inputTokens: 1n, outputTokens: 2n },
    },
    { name: "nothing of use", said: { queue_time: 1 }, want: undefined },
    { name: "null", said: null, want: undefined },
    { name: "a list", said: [1], want: undefined },
  ])("$name", ({ said, want }) => {
    expect(decodeUsage(said)).toEqual(want === undefined ? undefined : { ...NONE, ...want });
  });
});

test("decode(encode(usage)) = usage", () => {
  const tokens = fc.bigInt({ min: 0n, max: 10_000_000n });
  const usage = fc.record<Usage>({
    inputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    cacheWrite1hTokens: fc.constant(0n),
    outputTokens: tokens,
    reasoningTokens: tokens,
    imageTokens: tokens,
    audioInputTokens: tokens,
    audioOutputTokens: tokens,
    meters: fc.constant([]),
  });
  fc.assert(
    fc.property(usage, (value) => {
      expect(decodeUsage(encodeUsage(value))).toEqual(value);
    }),
  );
});

test("no field is ever negative, and the parts add up to a total that was said", () => {
  const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(null, "5", undefined, {}, -0, 1e12, 1e13));
  const details = fc.option(
    fc.dictionary(fc.constantFrom("cached_tokens", "audio_tokens", "reasoning_tokens"), number),
  );
  const said = fc.dictionary(fc.constantFrom("prompt_tokens", "completion_tokens", "total_tokens"), number);
  fc.assert(
    fc.property(said, details, details, (totals, prompt, completion) => {
      const usage = decodeUsage({ ...totals, prompt_tokens_details: prompt, completion_tokens_details: completion });
      if (usage === undefined) return;
      for (const tokens of Object.values(usage)) expect(tokens >= 0n).toBe(true);
      const input = usage.inputTokens + usage.cacheReadTokens + usage.audioInputTokens;
      const { prompt_tokens: told } = totals;
      if (typeof told === "number" && told >= 0 && told <= 1e12) expect(input).toBe(BigInt(Math.floor(told)));
    }),
  );
});
