/** Which public tokenizer counts for a model, and by how much its own count differs where it has another. Pure. */

/** The tokenizers that the gateway carries, as the tokenizer's package names them. */
export type Encoding = "o200k_base" | "cl100k_base";

/** How a model's tokens are counted. */
export interface ModelTokens {
  readonly encoding: Encoding;
  /** True where that is the model's own tokenizer, so that a count is no estimate. */
  readonly exact: boolean;
  /** The model's tokens for each 1,000 of the encoding, as measured over the corpus; see docs/tokens.md. */
  readonly perThousand: number;
  /**
   * True where some tokenizer of the family is public, and makes no more tokens of a text than it has bytes. Any other
   * may first replace signs by longer ones.
   */
  readonly countsBytes: boolean;
}

const OWN = { exact: true, perThousand: 1_000, countsBytes: true } as const;
const near = (perThousand: number): ModelTokens => ({
  encoding: "o200k_base",
  exact: false,
  perThousand,
  countsBytes: true,
});
/** Whoever publishes no tokenizer is counted by the newest that is public. */
const UNKNOWN: ModelTokens = { encoding: "o200k_base", exact: false, perThousand: 1_000, countsBytes: false };

const O200K: ModelTokens = { encoding: "o200k_base", ...OWN };
const CL100K: ModelTokens = { encoding: "cl100k_base", ...OWN };

/** By the start of the model's name; the first that fits holds. */
const ROWS: readonly { readonly name: RegExp; readonly tokens: ModelTokens }[] = [
  { name: /^(?:gpt-(?:4o|4\.1|4\.5|5|oss)|chatgpt-4o|codex-mini|o[134](?:-|$))/, tokens: O200K },
  { name: /^(?:gpt-(?:4|3\.5)(?:-|$)|text-embedding-|(?:babbage|davinci)-002$)/, tokens: CL100K },
  { name: /^(?:meta-)?llama-?[34]/, tokens: near(1_068) },
  { name: /^(?:qwen|qwq)/, tokens: near(1_134) },
  { name: /^deepseek/, tokens: near(1_140) },
  { name: /^gemma/, tokens: near(1_000) },
];

/** How a model's tokens are counted, by its name; what stands before a slash, and `ft:`, is no part of it. */
export function modelTokens(modelId: string): ModelTokens {
  const name = modelId
    .slice(modelId.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/^ft:/, "");
  return ROWS.find((row) => row.name.test(name))?.tokens ?? UNKNOWN;
}
