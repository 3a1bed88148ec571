/** Usage between the wire's counts, which come in two pieces, and the normal form. */
import type { Usage } from "../../../api/index.js";
import { NO_METERS } from "../../../api/meters.js";
import { type JsonObject, listOf, objectOf } from "../../json/value.js";
import { hasBrokenCount, TOKENS_MAX, tokenCount } from "../../answer/token-count.js";

const COUNTS = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"] as const;

/** No answer has more; a longer list is none of ours to walk. */
const ROUNDS_MAX = 1_000;

/** The counts of an answer as they come. A later report overwrites an earlier one, count by count. */
export class UsageReader {
  private told: Record<string, unknown> = {};
  private isTold = false;

  /** The normal form of what was told so far; undefined where nothing was. Nothing in it is negative. */
  get usage(): Usage | undefined {
    return this.isTold ? normal(this.told) : undefined;
  }

  /** True where a count was told that can be none, so that nothing of it is to be believed. */
  get broken(): boolean {
    return hasBrokenCount(this.told, COUNTS);
  }

  /** The rounds of an answer that had several, where they were told one by one. */
  get rounds(): { readonly countMax: number; readonly usages: readonly Usage[] } | undefined {
    const rounds = listOf(this.told["iterations"]);
    if (rounds.length < 2 || rounds.length > ROUNDS_MAX) return undefined;
    return { countMax: rounds.length, usages: rounds.map((round) => normal(objectOf(round) ?? {})) };
  }

  note(value: unknown): void {
    const usage = objectOf(value);
    if (usage === undefined) return;
    for (const [key, count] of Object.entries(usage)) if (count !== null && count !== undefined) this.told[key] = count;
    this.isTold ||= COUNTS.some((key) => tokenCount(usage[key]) !== undefined);
  }
}

function normal(told: JsonObject): Usage {
  const [input, written, read, output] = COUNTS.map((key) => totalOf(told, key));
  const reasoning = Math.min(
    tokenCount(objectOf(told["output_tokens_details"])?.["thinking_tokens"]) ?? 0,
    output ?? 0,
  );
  const writtenHour = Math.min(
    tokenCount(objectOf(told["cache_creation"])?.["ephemeral_1h_input_tokens"]) ?? 0,
    written ?? 0,
  );
  return {
    inputTokens: BigInt(input ?? 0),
    cacheReadTokens: BigInt(read ?? 0),
    cacheWriteTokens: BigInt((written ?? 0) - writtenHour),
    cacheWrite1hTokens: BigInt(writtenHour),
    outputTokens: BigInt((output ?? 0) - reasoning),
    reasoningTokens: BigInt(reasoning),
    imageTokens: 0n,
    audioInputTokens: 0n,
    audioOutputTokens: 0n,
    meters: NO_METERS,
  };
}

/** One count. An answer in several rounds tells only the last of them at the top, and all of them in a list. */
function totalOf(told: JsonObject, key: string): number {
  const rounds = listOf(told["iterations"]).reduce<number>(
    (sum, round) => sum + (tokenCount(objectOf(round)?.[key]) ?? 0),
    0,
  );
  return Math.min(Math.max(tokenCount(told[key]) ?? 0, rounds), TOKENS_MAX);
}

/** What a usage says beside its counts. */
const UNCOUNTED: JsonObject = { inference_geo: null, service_tier: "standard", speed: null };

const NO_COUNTS: JsonObject = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
  output_tokens_details: null,
  server_tool_use: null,
};

/** The usage of a message. What is not known, such as while its stream begins, is zeros. */
export function encodeUsage(usage: Usage | undefined): JsonObject {
  return { ...(usage === undefined ? { ...NO_COUNTS, cache_creation: null } : encodeCounts(usage)), ...UNCOUNTED };
}

/** The usage of a stream's end: its counts alone. */
export function encodeEndUsage(usage: Usage | undefined): JsonObject {
  return usage === undefined ? NO_COUNTS : encodeCounts(usage);
}

/** The wire's form: input without the cache's, output with the thinking. */
function encodeCounts(usage: Usage): JsonObject {
  const { cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  return {
    input_tokens: Number(usage.inputTokens + usage.imageTokens + usage.audioInputTokens),
    cache_creation_input_tokens: Number(cacheWriteTokens + cacheWrite1hTokens),
    cache_read_input_tokens: Number(usage.cacheReadTokens),
    cache_creation: {
      ephemeral_5m_input_tokens: Number(cacheWriteTokens),
      ephemeral_1h_input_tokens: Number(cacheWrite1hTokens),
    },
    output_tokens: Number(usage.outputTokens + reasoningTokens + usage.audioOutputTokens),
    output_tokens_details: reasoningTokens > 0n ? { thinking_tokens: Number(reasoningTokens) } : null,
    server_tool_use: null,
  };
}
