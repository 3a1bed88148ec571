/** The nine columns in which every table keeps the tokens of a usage, and the text of its meters. */
import type { Meter, Usage } from "../api/index.js";
import { metersIn, metersText } from "../api/meters.js";
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

/** The tokens of a usage as the values of their columns, in order. */
export function tokensOf(usage: Usage): bigint[] {
  return USAGE_FIELDS.map((field) => usage[field]);
}

/** The value of the column `meters`: null for none, as rows of older schemas have it. */
export function metersValue({ meters }: Usage): string | null {
  return meters.length === 0 ? null : metersText(meters);
}

/** `meters`: as text where the row has a column of them. */
export function usageOf(row: TokenColumns, meters: string | null | Meter[]): Usage {
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
    meters: typeof meters === "string" || meters === null ? metersIn(meters) : meters,
  };
}

/** `?` once for each of so many values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => "?").join(", ");
}

/** As a table of sums has them, in the order of their columns. */
export const TOKEN_COLUMNS_TABLE = TOKEN_COLUMNS.map((name) => `\n  ${name} INTEGER NOT NULL,`).join("");
