/** A usage field by field, one of nothing to start from, and its sums. */
import type { Usage } from "./index.js";
import { NO_METERS } from "./meters.js";

/** The token fields of a usage, in the order in which they are stored. */
export const USAGE_FIELDS = [
  "inputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "cacheWrite1hTokens",
  "outputTokens",
  "reasoningTokens",
  "imageTokens",
  "audioInputTokens",
  "audioOutputTokens",
] as const satisfies readonly (keyof Usage)[];

export type UsageField = (typeof USAGE_FIELDS)[number];

export const NO_USAGE: Usage = {
  inputTokens: 0n,
  cacheReadTokens: 0n,
  cacheWriteTokens: 0n,
  cacheWrite1hTokens: 0n,
  outputTokens: 0n,
  reasoningTokens: 0n,
  imageTokens: 0n,
  audioInputTokens: 0n,
  audioOutputTokens: 0n,
  meters: NO_METERS,
};

/** A usage of what is said of each token field. Does not compile where it has a field that `USAGE_FIELDS` lacks. */
export function usageFrom(tokens: (field: UsageField) => bigint, meters = NO_METERS): Usage {
  return {
    inputTokens: tokens("inputTokens"),
    cacheReadTokens: tokens("cacheReadTokens"),
    cacheWriteTokens: tokens("cacheWriteTokens"),
    cacheWrite1hTokens: tokens("cacheWrite1hTokens"),
    outputTokens: tokens("outputTokens"),
    reasoningTokens: tokens("reasoningTokens"),
    imageTokens: tokens("imageTokens"),
    audioInputTokens: tokens("audioInputTokens"),
    audioOutputTokens: tokens("audioOutputTokens"),
    meters,
  };
}

/** All tokens of a usage. */
export function totalTokens(usage: Usage): number {
  return Number(readTokens(usage) + generatedTokens(usage));
}

/** The tokens that the model read, cached or not. */
export function readTokens(usage: Usage): bigint {
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens;
}

/** The tokens that the model generated. */
export function generatedTokens(usage: Usage): bigint {
  return usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens;
}

/** What operators see of a sum beside what was charged. */
export interface OperatorSums {
  readonly operatorCostNanos?: bigint | undefined;
  readonly marginNanos?: bigint | undefined;
}

/**
 * True where the operator's cost of a sum is known of no request that was charged: then all that was charged stands in
 * no margin, and its cost of nothing is none.
 */
export function isCostUnknown({ operatorCostNanos, marginNanos }: OperatorSums, chargedNanos: bigint): boolean {
  return operatorCostNanos === undefined || (operatorCostNanos === 0n && marginNanos === 0n && chargedNanos > 0n);
}
