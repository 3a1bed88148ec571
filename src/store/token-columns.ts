/** The nine columns in which every table keeps a usage. */
import type { Usage } from "../api/index.js";
import { USAGE_FIELDS } from "../api/usage.js";

/** In the order of USAGE_FIELDS. */
export const TOKEN_COLUMNS = [
  "input_tokens",
  "cache_read_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "output_tokens",
  "reasoning_tokens",
  "image_tokens",
  "audio_input_tokens",
  "audio_output_tokens",
] as const;

export type TokenColumns = Readonly<Record<(typeof TOKEN_COLUMNS)[number], bigint>>;

/** A usage as the values of its columns, in order. */
export function tokensOf(usage: Usage): bigint[] {
  return USAGE_FIELDS.map((field) => usage[field]);
}

export function usageOf(row: TokenColumns): Usage {
  return {
    inputTokens: row.input_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    cacheWrite1hTokens: row.cache_write_1h_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    imageTokens: row.image_tokens,
    audioInputTokens: row.audio_input_tokens,
    audioOutputTokens: row.audio_output_tokens,
  };
}

/** `?` once for each of so many values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => "?").join(", ");
}

/** As a table of sums has them, in the order of their columns. */
export const TOKEN_COLUMNS_TABLE = TOKEN_COLUMNS.map((name) => `\n  ${name} INTEGER NOT NULL,`).join("");
