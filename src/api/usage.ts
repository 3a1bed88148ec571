/** A usage of nothing, to start from. */
import type { Usage } from "./index.js";

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
};
