/** Usage in normal form. The wire's input counts neither what was read from the cache nor what was written to it. */
import type { Usage } from "../../../api/index.js";
import { NO_METERS } from "../../../api/meters.js";
import { listOf, objectOf } from "../../json/value.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";

const COUNTS = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"] as const;

/** Undefined where no count is told. Nothing in it is negative. */
export function decodeUsage(value: unknown): Usage | undefined {
  const told = objectOf(value);
  if (told === undefined || COUNTS.every((name) => tokenCount(told[name]) === undefined)) return undefined;
  const [input, output, read, written] = COUNTS.map((name) => tokenCount(told[name]) ?? 0);
  const writtenHour = Math.min(hourTokens(told["cacheDetails"]), written ?? 0);
  return {
    inputTokens: BigInt(input ?? 0),
    cacheReadTokens: BigInt(read ?? 0),
    cacheWriteTokens: BigInt((written ?? 0) - writtenHour),
    cacheWrite1hTokens: BigInt(writtenHour),
    outputTokens: BigInt(output ?? 0),
    reasoningTokens: 0n,
    imageTokens: 0n,
    audioInputTokens: 0n,
    audioOutputTokens: 0n,
    meters: NO_METERS,
  };
}

/** True where a count was told that can be none, so that nothing of it is to be believed. */
export function isBrokenUsage(value: unknown): boolean {
  return hasBrokenCount(objectOf(value), COUNTS);
}

/** What of the cache was written for an hour: writes are also told by how long they hold. */
function hourTokens(details: unknown): number {
  return listOf(details)
    .map(objectOf)
    .filter((detail) => detail?.["ttl"] === "1h")
    .reduce((sum, detail) => sum + (tokenCount(detail?.["inputTokens"]) ?? 0), 0);
}
