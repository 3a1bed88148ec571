/** Usage between the wire's counts and the normal form, where every token stands in one field. */
import type { Usage } from "../../../api/index.js";
import { NO_METERS } from "../../../api/meters.js";
import { type JsonObject, listOf, objectOf } from "../../json/value.js";
import { Remainder } from "../../answer/remainder.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";

const COUNTS = ["promptTokenCount", "candidatesTokenCount", "responseTokenCount", "thoughtsTokenCount"] as const;

/** True where the usage tells counts that can be none, so that nothing in it is to be believed. */
export function isBrokenUsage(value: unknown): boolean {
  return hasBrokenCount(objectOf(value), COUNTS);
}

/**
 * The normal form of a usage; undefined where the value is none. The prompt includes what was cached, the candidates
 * exclude thoughts, and what server tools read counts as prompt. Nothing in it is negative, whatever was said.
 */
export function decodeUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  if (usage === undefined) return undefined;
  const prompt = tokenCount(usage["promptTokenCount"]);
  const candidates = tokenCount(usage["candidatesTokenCount"] ?? usage["responseTokenCount"]);
  const total = tokenCount(usage["totalTokenCount"]);
  if (prompt === undefined && candidates === undefined && total === undefined) return undefined;
  const tools = tokenCount(usage["toolUsePromptTokenCount"]) ?? 0;
  const thoughts = tokenCount(usage["thoughtsTokenCount"]) ?? 0;
  const rest = Math.max(0, (total ?? 0) - tools - thoughts);
  // A count that is missing is what the others leave of the total.
  const output = new Remainder(candidates ?? Math.max(0, rest - (prompt ?? rest)));
  const input = new Remainder((prompt ?? Math.max(0, rest - (candidates ?? 0))) + tools);
  const cached = usage["cacheTokensDetails"];
  const read = usage["promptTokensDetails"];
  return {
    cacheReadTokens: input.take(tokenCount(usage["cachedContentTokenCount"])),
    cacheWriteTokens: 0n,
    cacheWrite1hTokens: 0n,
    imageTokens: input.take(Math.max(0, ofModality(read, "IMAGE") - ofModality(cached, "IMAGE"))),
    audioInputTokens: input.take(Math.max(0, ofModality(read, "AUDIO") - ofModality(cached, "AUDIO"))),
    inputTokens: input.rest(),
    reasoningTokens: BigInt(thoughts),
    audioOutputTokens: output.take(ofModality(usage["candidatesTokensDetails"], "AUDIO")),
    outputTokens: output.rest(),
    meters: NO_METERS,
  };
}

/** The wire's form. */
export function encodeUsage(usage: Usage): JsonObject {
  const written = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  const media = usage.imageTokens + usage.audioInputTokens;
  const prompt = usage.inputTokens + usage.cacheReadTokens + written + media;
  const candidates = usage.outputTokens + usage.audioOutputTokens;
  const details = modalities({ IMAGE: usage.imageTokens, AUDIO: usage.audioInputTokens });
  const spoken = modalities({ AUDIO: usage.audioOutputTokens });
  return {
    promptTokenCount: Number(prompt),
    candidatesTokenCount: Number(candidates),
    totalTokenCount: Number(prompt + candidates + usage.reasoningTokens),
    ...(usage.cacheReadTokens > 0n ? { cachedContentTokenCount: Number(usage.cacheReadTokens) } : {}),
    ...(usage.reasoningTokens > 0n ? { thoughtsTokenCount: Number(usage.reasoningTokens) } : {}),
    ...(details.length > 0 ? { promptTokensDetails: details } : {}),
    ...(spoken.length > 0 ? { candidatesTokensDetails: spoken } : {}),
  };
}

function modalities(counts: Readonly<Record<string, bigint>>): JsonObject[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0n)
    .map(([modality, count]) => ({ modality, tokenCount: Number(count) }));
}

function ofModality(details: unknown, modality: string): number {
  let sum = 0;
  for (const item of listOf(details)) {
    const detail = objectOf(item);
    if (detail?.["modality"] === modality) sum += tokenCount(detail["tokenCount"]) ?? 0;
  }
  return sum;
}
