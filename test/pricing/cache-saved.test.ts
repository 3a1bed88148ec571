/** What caches save: reads at their discount, less what writes cost above input. */
import { expect, test } from "vitest";
import { NO_USAGE } from "../../src/api/usage.js";
import { cacheSavedNanos } from "../../src/pricing/cache-saved.js";
import { priceOf } from "./prices.js";

const PRICE = {
  ...priceOf({ input: 1_000_000n, output: 5_000_000n }),
  cacheReadPicos: 100_000n,
  cacheWritePicos: 1_250_000n,
};

test.each([
  { name: "nothing without a cache", usage: { inputTokens: 1_000n, outputTokens: 9n }, want: 0n },
  { name: "nine tenths of what was read", usage: { cacheReadTokens: 1_000n }, want: 900_000n },
  { name: "a quarter less than nothing of what was written", usage: { cacheWriteTokens: 1_000n }, want: -250_000n },
  { name: "both", usage: { cacheReadTokens: 1_000n, cacheWriteTokens: 400n, inputTokens: 7n }, want: 800_000n },
])("$name", ({ usage, want }) => {
  expect(cacheSavedNanos({ ...NO_USAGE, ...usage }, PRICE)).toBe(want);
});
