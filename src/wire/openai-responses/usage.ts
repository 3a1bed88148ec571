/** Usage between the wire's overlapping counts and the normal form, where every token stands in one field. */
import type { Usage } from "../../api/index.js";
import { type JsonObject, objectOf } from "../json/value.js";
import { Remainder } from "../remainder.js";

/** More than any request can use: what is above is no count. */
const TOKENS_MAX = 1e12;

/** The normal form of a usage; undefined where the value is none. Nothing in it is negative, whatever was said. */
export function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  const inputTotal = tokens(usage?.["input_tokens"]);
  const outputTotal = tokens(usage?.["output_tokens"]);
  if (usage === undefined || (inputTotal === undefined && outputTotal === undefined)) return undefined;
  const read = objectOf(usage["input_tokens_details"]) ?? {};
  const written = objectOf(usage["output_tokens_details"]) ?? {};
  const input = new Remainder(inputTotal ?? 0);
  const output = new Remainder(outputTotal ?? 0);
  return {
    cacheReadTokens: input.take(tokens(read["cached_tokens"])),
    cacheWriteTokens: input.take(tokens(read["cache_write_tokens"])),
    cacheWrite1hTokens: 0n,
    imageTokens: input.take(tokens(read["image_tokens"])),
    audioInputTokens: input.take(tokens(read["audio_tokens"])),
    inputTokens: input.rest(),
    reasoningTokens: output.take(tokens(written["reasoning_tokens"])),
    audioOutputTokens: output.take(tokens(written["audio_tokens"])),
    outputTokens: output.rest(),
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

function tokens(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : undefined;
}
