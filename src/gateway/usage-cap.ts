/** What an answer may have read and generated, by its plan and the limit of output that was sent upstream. */
import type { Usage } from "../api/index.js";
import { generatedTokens, readTokens } from "../api/usage.js";
import { lesser } from "../money.js";

// A tokenizer that differs a little, and what stands around a text, are no reason to cut it.
const MORE_MAX = 1.1;
const MORE_TOKENS_MAX = 64;

/** True where so many tokens, which came for certain, are more than the limit can be said to allow. */
export function isPastLimit(certainTokens: number, limitTokens: number): boolean {
  return certainTokens > limitTokens * MORE_MAX + MORE_TOKENS_MAX;
}

/** What no table knows is not sure to be output, so it ends an answer only far beyond its limit. */
const UNKNOWN_LIMITS = 2;

/** True where so many tokens, with those that came for certain, are far more than the limit. */
export function isFarPastLimit(tokens: number, limitTokens: number): boolean {
  return isPastLimit(tokens, limitTokens * UNKNOWN_LIMITS);
}

/** The usage with no more generated than `tokensMax`. */
export function withOutputWithin(usage: Usage, tokensMax: number): Usage {
  return without(usage, generatedTokens(usage) - BigInt(tokensMax), GENERATED);
}

/** The usage with no more read than `tokensMax`. What goes first is what nobody pays less for. */
export function withInputWithin(usage: Usage, tokensMax: bigint): Usage {
  return without(usage, readTokens(usage) - tokensMax, READ);
}

const GENERATED = ["outputTokens", "reasoningTokens", "audioOutputTokens"] as const;
const READ = [
  "cacheWrite1hTokens",
  "audioInputTokens",
  "imageTokens",
  "cacheWriteTokens",
  "inputTokens",
  "cacheReadTokens",
] as const;

function without(usage: Usage, excess: bigint, fields: readonly (keyof Usage)[]): Usage {
  if (excess <= 0n) return usage;
  const left = { ...usage };
  let over = excess;
  for (const field of fields) {
    const taken = lesser(left[field], over);
    left[field] -= taken;
    over -= taken;
  }
  return left;
}
