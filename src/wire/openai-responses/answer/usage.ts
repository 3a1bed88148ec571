/** Usage between the wire's overlapping counts and the normal form, where every token stands in one field. */
import type { Usage } from "../../../api/index.js";
import { NO_METERS } from "../../../api/meters.js";
import { type JsonObject, objectOf } from "../../json/value.js";
import { Remainder } from "../../answer/remainder.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";

/** True where the usage tells counts that can be none, so that nothing in it is to be believed. */
export function isBrokenUsage(value: unknown): boolean {
  return hasBrokenCount(objectOf(value), ["input_tokens", "output_tokens"]);
}

/** The normal form of a usage; undefined where the value is none. Nothing in it is negative, whatever was said. */
export function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  const inputTotal = tokenCount(usage?.["input_tokens"]);
  const outputTotal = tokenCount(usage?.["output_tokens"]);
  if (usage === undefined || (inputTotal === undefined && outputTotal === undefined)) return undefined;
  const read = objectOf(usage["input_tokens_details"]) ?? {};
  const written = objectOf(usage["output_tokens_details"]) ?? {};
  const input = new Remainder(inputTotal ?? 0);
  const output = new Remainder(outputTotal ?? 0);
  return {
    cacheReadTokens: input.take(tokenCount(read["cached_tokens"])),
    cacheWriteTokens: input.take(tokenCount(read["cache_write_tokens"])),
    cacheWrite1hTokens: 0n,
    imageTokens: input.take(tokenCount(read["image_tokens"])),
    audioInputTokens: input.take(tokenCount(read["audio_tokens"])),
    inputTokens: input.rest(),
    reasoningTokens: output.take(tokenCount(written["reasoning_tokens"])),
    audioOutputTokens: output.take(tokenCount(written["audio_tokens"])),
    outputTokens: output.rest(),
    meters: NO_METERS,
  };
}

/** The wire's form: totals that include their parts. */
export function encodeUsage(usage: Usage): JsonObject {
  const cacheWrite = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  const input = usage.inputTokens + usage.cacheReadTokens + cacheWrite + usage.imageTokens + usage.audioInputTokens;
  const output = usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens;
  return {
    input_tokens: Number(input),
    input_tokens_details: {
      cached_tokens: Number(usage.cacheReadTokens),
      cache_write_tokens: Number(cacheWrite),
      ...(usage.imageTokens > 0n ? { image_tokens: Number(usage.imageTokens) } : {}),
      ...(usage.audioInputTokens > 0n ? { audio_tokens: Number(usage.audioInputTokens) } : {}),
    },
    output_tokens: Number(output),
    output_tokens_details: {
      reasoning_tokens: Number(usage.reasoningTokens),
      ...(usage.audioOutputTokens > 0n ? { audio_tokens: Number(usage.audioOutputTokens) } : {}),
    },
    total_tokens: Number(input + output),
  };
}
