/**
 * Usages, field by field. Every request uses these functions several times, and a loop over field names would cost a
 * lookup for each.
 */
import type { Usage } from "../api/index.js";
import { addedMeters, areMeters, boundedMeters, metersText } from "../api/meters.js";
import type { UsageField } from "../api/usage.js";

/** All tokens of a usage together. */
export function tokenCount(usage: Usage): bigint {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  const output = usage.outputTokens + usage.reasoningTokens;
  return input + output + usage.imageTokens + usage.audioInputTokens + usage.audioOutputTokens;
}

/** Adds a usage to sums. */
export function addUsage(sums: Usage, usage: Usage): void {
  if (usage.inputTokens !== 0n) sums.inputTokens += usage.inputTokens;
  if (usage.cacheReadTokens !== 0n) sums.cacheReadTokens += usage.cacheReadTokens;
  if (usage.cacheWriteTokens !== 0n) sums.cacheWriteTokens += usage.cacheWriteTokens;
  if (usage.cacheWrite1hTokens !== 0n) sums.cacheWrite1hTokens += usage.cacheWrite1hTokens;
  if (usage.outputTokens !== 0n) sums.outputTokens += usage.outputTokens;
  if (usage.reasoningTokens !== 0n) sums.reasoningTokens += usage.reasoningTokens;
  if (usage.imageTokens !== 0n) sums.imageTokens += usage.imageTokens;
  if (usage.audioInputTokens !== 0n) sums.audioInputTokens += usage.audioInputTokens;
  if (usage.audioOutputTokens !== 0n) sums.audioOutputTokens += usage.audioOutputTokens;
  if (usage.meters.length > 0) sums.meters = addedMeters(sums.meters, usage.meters);
}

/** A usage as text: zeros are left out, which most fields are. */
export function usageText(usage: Usage): string {
  return (
    said("inputTokens", usage.inputTokens) +
    said("cacheReadTokens", usage.cacheReadTokens) +
    said("cacheWriteTokens", usage.cacheWriteTokens) +
    said("cacheWrite1hTokens", usage.cacheWrite1hTokens) +
    said("outputTokens", usage.outputTokens) +
    said("reasoningTokens", usage.reasoningTokens) +
    said("imageTokens", usage.imageTokens) +
    said("audioInputTokens", usage.audioInputTokens) +
    said("audioOutputTokens", usage.audioOutputTokens) +
    (usage.meters.length === 0 ? "" : ` meters ${metersText(usage.meters)}`)
  );
}

function said(field: UsageField, tokens: bigint): string {
  return tokens === 0n ? "" : ` ${field} ${tokens}`;
}

/** True if each field and meter is a count, from zero to the maximum. */
export function isUsage(usage: Usage): boolean {
  return (
    isTokens(usage.inputTokens) &&
    isTokens(usage.cacheReadTokens) &&
    isTokens(usage.cacheWriteTokens) &&
    isTokens(usage.cacheWrite1hTokens) &&
    isTokens(usage.outputTokens) &&
    isTokens(usage.reasoningTokens) &&
    isTokens(usage.imageTokens) &&
    isTokens(usage.audioInputTokens) &&
    isTokens(usage.audioOutputTokens) &&
    areMeters(usage.meters)
  );
}

/** The highest token count in one field of a usage. */
export const TOKENS_MAX = 1_000_000_000_000n;

function isTokens(tokens: bigint): boolean {
  return tokens >= 0n && tokens <= TOKENS_MAX;
}

/** The nearest valid usage to one with arbitrary values. */
export function boundedUsage(usage: Usage): Usage {
  return {
    inputTokens: within(usage.inputTokens, TOKENS_MAX),
    cacheReadTokens: within(usage.cacheReadTokens, TOKENS_MAX),
    cacheWriteTokens: within(usage.cacheWriteTokens, TOKENS_MAX),
    cacheWrite1hTokens: within(usage.cacheWrite1hTokens, TOKENS_MAX),
    outputTokens: within(usage.outputTokens, TOKENS_MAX),
    reasoningTokens: within(usage.reasoningTokens, TOKENS_MAX),
    imageTokens: within(usage.imageTokens, TOKENS_MAX),
    audioInputTokens: within(usage.audioInputTokens, TOKENS_MAX),
    audioOutputTokens: within(usage.audioOutputTokens, TOKENS_MAX),
    meters: boundedMeters(usage.meters),
  };
}

/** The nearest value from zero to `most`. */
export function within(value: bigint, most: bigint): bigint {
  if (value < 0n) return 0n;
  return value > most ? most : value;
}
