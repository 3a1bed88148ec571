/**
 * The limits of a key, and of the operator's own account where clients may see these, as clients of Anthropic's
 * messages read them: the same facts under Anthropic's names.
 */
import { UNIFIED_LIMIT_PREFIX } from "../api/channel.js";
import { spanMs } from "../wire/error/retry-after.js";

const NAMES: readonly (readonly [own: string, told: string])[] = [
  ["x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit"],
  ["x-ratelimit-remaining-requests", "anthropic-ratelimit-requests-remaining"],
  ["x-ratelimit-reset-requests", "anthropic-ratelimit-requests-reset"],
  ["x-ratelimit-limit-tokens", "anthropic-ratelimit-tokens-limit"],
  ["x-ratelimit-remaining-tokens", "anthropic-ratelimit-tokens-remaining"],
  ["x-ratelimit-reset-tokens", "anthropic-ratelimit-tokens-reset"],
];

/** `headers` are those of the answer; `nowMs` is the time of day, since a reset is told as a time of RFC 3339. */
export function anthropicLimits(headers: Readonly<Record<string, string>>, nowMs: number): Record<string, string> {
  const limits: Record<string, string> = {};
  for (const [own, told] of NAMES) {
    const value = headers[own];
    if (value === undefined) continue;
    limits[told] = told.endsWith("reset") ? resetTime(value, nowMs) : value;
  }
  for (const name in headers)
    if (name.startsWith(UNIFIED_LIMIT_PREFIX))
      limits[`anthropic-ratelimit-unified-${name.slice(UNIFIED_LIMIT_PREFIX.length)}`] = headers[name] ?? "";
  return limits;
}

/** Whole seconds, rounded up so that nobody comes back too early. */
function resetTime(duration: string, nowMs: number): string {
  return new Date(Math.ceil((nowMs + spanMs(duration)) / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
