/** Usage between the wire's overlapping counts and the normal form, where every token stands in one field. */
import type { Usage } from "../../../api/index.js";
import { NO_METERS } from "../../../api/meters.js";
import { type JsonObject, objectOf } from "../../json/value.js";
import { Remainder } from "../../answer/remainder.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";

/** True where the usage tells counts that can be none, so that nothing in it is to be believed. */
export function isBrokenUsage(value: unknown): boolean {
  return hasBrokenCount(objectOf(value), ["prompt_tokens", "completion_tokens"]);
}

/** The normal form of a usage; undefined where the value is none. Nothing in it is negative, whatever was said. */
export function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  if (usage === undefined) return undefined;
  const prompt = tokenCount(usage["prompt_tokens"]);
  const completion = tokenCount(usage["completion_tokens"]);
  const total = tokenCount(usage["total_tokens"]);
  if (prompt === undefined && completion === undefined && total === undefined) return undefined;
  const read = objectOf(usage["prompt_tokens_details"]) ?? {};
  const written = objectOf(usage["completion_tokens_details"]) ?? {};
  const reasoning = tokenCount(written["reasoning_tokens"]) || untold(prompt, completion, total);
  const cached = first(read["cached_tokens"], usage["prompt_cache_hit_tokens"], usage["cached_tokens"]);
  const input = new Remainder(prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0)));
  const output = new Remainder(outputTotal(completion, prompt, total, reasoning));
  return {
    cacheReadTokens: input.take(cached),
    cacheWriteTokens: input.take(first(read["cache_write_tokens"], read["cache_creation_tokens"])),
    cacheWrite1hTokens: 0n,
    imageTokens: input.take(tokenCount(read["image_tokens"])),
    audioInputTokens: input.take(tokenCount(read["audio_tokens"])),
    inputTokens: input.rest(),
    reasoningTokens: output.take(reasoning),
    audioOutputTokens: output.take(tokenCount(written["audio_tokens"])),
    outputTokens: output.rest(),
    meters: NO_METERS,
  };
}

/** What Google's address for OpenAI's clients tells of thoughts: they stand in the total alone. */
function untold(prompt: number | undefined, completion: number | undefined, total: number | undefined): number {
  // Who says that nothing was generated is not believed for its total.
  if (prompt === undefined || completion === undefined || completion === 0 || total === undefined) return 0;
  return Math.max(0, total - prompt - completion);
}

/** Some servers count reasoning beside the completion, not in it; their total tells. */
function outputTotal(
  completion: number | undefined,
  prompt: number | undefined,
  total: number | undefined,
  reasoning: number,
): number {
  if (completion === undefined) return Math.max(0, (total ?? 0) - (prompt ?? total ?? 0));
  const isBeside = prompt !== undefined && total === prompt + completion + reasoning;
  return isBeside ? completion + reasoning : completion;
}

/** The wire's form: totals that include their parts. */
export function encodeUsage(usage: Usage): JsonObject {
  const cacheWrite = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  const prompt = usage.inputTokens + usage.cacheReadTokens + cacheWrite + usage.imageTokens + usage.audioInputTokens;
  const completion = usage.outputTokens + usage.reasoningTokens + usage.audioOutputTokens;
  return {
    prompt_tokens: Number(prompt),
    completion_tokens: Number(completion),
    total_tokens: Number(prompt + completion),
    prompt_tokens_details: {
      cached_tokens: Number(usage.cacheReadTokens),
      audio_tokens: Number(usage.audioInputTokens),
      ...(cacheWrite > 0n ? { cache_write_tokens: Number(cacheWrite) } : {}),
      ...(usage.imageTokens > 0n ? { image_tokens: Number(usage.imageTokens) } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: Number(usage.reasoningTokens),
      audio_tokens: Number(usage.audioOutputTokens),
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function first(...values: readonly unknown[]): number | undefined {
  for (const value of values) {
    const count = tokenCount(value);
    if (count !== undefined) return count;
  }
  return undefined;
}
