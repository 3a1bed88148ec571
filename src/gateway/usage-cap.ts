/** Caps the usage of an answer by its plan and by the output limit that was sent upstream. */
import type { Meter, Usage } from "../api/index.js";
import { generatedTokens, readTokens, type UsageField } from "../api/usage.js";
import { lesser } from "../base/money.js";

// A tokenizer that differs a little, and what stands around a text, are no reason to cut it.
const MORE_MAX = 1.1;
const MORE_TOKENS_MAX = 64;

/** True if the tokens that were certainly delivered are more than the limit can allow. */
export function isPastLimit(certainTokens: number, limitTokens: number): boolean {
  return certainTokens > limitTokens * MORE_MAX + MORE_TOKENS_MAX;
}

/** Content of an unknown kind is not certain to be output, so it ends an answer only at this multiple of the limit. */
const UNKNOWN_LIMITS = 2;

/** True if these tokens, including the certain ones, are far above the limit. */
export function isFarPastLimit(tokens: number, limitTokens: number): boolean {
  return isPastLimit(tokens, limitTokens * UNKNOWN_LIMITS);
}

/** The usage with at most `tokensMax` generated tokens. */
export function withOutputWithin(usage: Usage, tokensMax: number): Usage {
  return without(usage, generatedTokens(usage) - BigInt(tokensMax), GENERATED);
}

/** The usage with at most `tokensMax` input tokens. The most expensive kinds are removed first. */
export function withInputWithin(usage: Usage, tokensMax: bigint): Usage {
  return without(usage, readTokens(usage) - tokensMax, READ);
}

/** The usage with at most these quantities of each unit, of whatever kind: the rest is cut from the last kinds. */
export function withMetersWithin(usage: Usage, metersMax: readonly Meter[]): Usage {
  const left = new Map<string, bigint>();
  for (const { unit, quantity } of metersMax) left.set(unit, (left.get(unit) ?? 0n) + quantity);
  let isCut = false;
  const meters = usage.meters.flatMap((meter) => {
    const quantity = lesser(meter.quantity, left.get(meter.unit) ?? 0n);
    left.set(meter.unit, (left.get(meter.unit) ?? 0n) - quantity);
    isCut ||= quantity < meter.quantity;
    return quantity === 0n ? [] : [{ ...meter, quantity }];
  });
  return isCut ? { ...usage, meters } : usage;
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

function without(usage: Usage, excess: bigint, fields: readonly UsageField[]): Usage {
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
