/** What an answer may have generated, by the limit of output that was sent upstream and that its hold covers. */
import type { Usage } from "../api/index.js";
import { generatedTokens } from "./count.js";

// A tokenizer that differs a little, and what stands around a text, are no reason to cut it.
const MORE_MAX = 1.1;
const MORE_TOKENS_MAX = 64;

/** True where so many tokens, which came for certain, are more than the limit can be said to allow. */
export function isPastLimit(certainTokens: number, limitTokens: number): boolean {
  return certainTokens > limitTokens * MORE_MAX + MORE_TOKENS_MAX;
}

/** The usage with no more generated than `tokensMax`. */
export function withOutputWithin(usage: Usage, tokensMax: number): Usage {
  let excess = generatedTokens(usage) - BigInt(tokensMax);
  if (excess <= 0n) return usage;
  const less = (tokens: bigint): bigint => {
    const taken = tokens < excess ? tokens : excess;
    excess -= taken;
    return tokens - taken;
  };
  const outputTokens = less(usage.outputTokens);
  const reasoningTokens = less(usage.reasoningTokens);
  return { ...usage, outputTokens, reasoningTokens, audioOutputTokens: less(usage.audioOutputTokens) };
}
