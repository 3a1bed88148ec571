/** What caches of prompts save. Pure. */
import type { Price, Usage } from "../api/index.js";
import { costNanos } from "./price.js";

/**
 * What reads from caches cost less than input would, without what writes cost more, in nano-USD; below 0 where caches
 * cost more than they save.
 */
export function cacheSavedNanos(usage: Usage, price: Price): bigint {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const cachedTokens = cacheReadTokens + cacheWriteTokens + cacheWrite1hTokens;
  if (cachedTokens === 0n) return 0n;
  const none = { cacheReadTokens: 0n, cacheWriteTokens: 0n, cacheWrite1hTokens: 0n };
  return costNanos({ ...usage, ...none, inputTokens: inputTokens + cachedTokens }, price) - costNanos(usage, price);
}
