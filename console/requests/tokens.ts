/** Sums over the kinds of tokens of a request. */
import type { Usage } from "../../gen/console/usage.js";

export function inputOf(usage: Usage | undefined): bigint {
  if (usage === undefined) return 0n;
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return usage.inputTokens + cached + usage.imageTokens + usage.audioInputTokens;
}

export function outputOf(usage: Usage | undefined): bigint {
  return usage === undefined ? 0n : usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens;
}
