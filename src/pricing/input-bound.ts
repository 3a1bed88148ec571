/** The most input tokens that a request can have, known before anyone counts them. Pure. */
import { isAscii } from "node:buffer";
import { modelTokens } from "./model-tokens.js";

/** What of a request decides its input tokens; the facts that a wire reads carry it. */
export interface InputFacts {
  /** Bytes of the request without inline media. */
  readonly textBytes: number;
  readonly imageCount: number;
  readonly fileCount: number;
  readonly audioCount: number;
  /** How many inputs are read one by one, each within the model's context. Absent: one. */
  readonly inputCount?: number;
}

/** The model that reads the request, as its upstream names it. */
export interface InputModel {
  readonly id: string;
  /** 0 where nobody knows. */
  readonly contextTokens: number;
}

/** The signs that take more bytes in Unicode's compatibility form (NFKC), and some beside them. */
const GROWING = rangesOf(
  "a8-be 13f-149 1c4-1c6 2d8-2dd 344 37a-385 587 675-678 958-95f 9dc-9df a33-a36 a59-a5e b5c-b5d e33 " +
    "eb3 edc-edd f43-fb9 1fc1-1fee 2033-2037 2057 2150-2189 222c-2230 247d-2487 2a0c 2adc 309b-309f 30ff " +
    "3200-3243 327c-327d 32c0-32cb 32ff-33fe fa6c facf-fad7 fb13-fb4f fbdd-fdc7 fdf0-fdfc fe71-fe7f " +
    "fef5-fefc 1d15e-1d164 1d1bb-1d1c0 1f12a 1f200-1f201 1f240-1f248",
);
const ESCAPE = /\\u([0-9a-f]{4})/gi;

/** An expression for code points, given as hexadecimal ranges. */
function rangesOf(ranges: string): RegExp {
  const parts = ranges.split(" ").map((range) => range.replaceAll(/[0-9a-f]+/g, (hex) => `\\u{${hex}}`));
  return new RegExp(`[${parts.join("")}]`, "gu");
}

/**
 * How many bytes longer a body may become where its model's tokenizer first writes signs by their compatibility form:
 * `\ufdfa` becomes 33 bytes of 3. 0 for a model whose tokenizer is public and does no such thing.
 */
export function growthBytes(body: () => Buffer, modelId: string, hasSpelledSigns?: boolean): number {
  if (modelTokens(modelId).countsBytes) return 0;
  const bytes = body();
  const escapes = hasSpelledSigns ?? bytes.includes("\\u");
  if (!escapes && isAscii(bytes)) return 0;
  const spelled = bytes.toString();
  const text = escapes
    ? spelled.replaceAll(ESCAPE, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : spelled;
  let growth = 0;
  for (const [sign] of text.matchAll(GROWING))
    growth += Math.max(0, Buffer.byteLength(sign.normalize("NFKC")) - Buffer.byteLength(sign));
  return growth;
}

/**
 * What one picture can cost on any model that we know of. gpt-4o-mini counts most: 2,833 tokens and 5,667 for each
 * tile of 512 pixels, and scaling to 2,048 by 768 leaves at most 8 tiles.
 */
export const IMAGE_TOKENS_MAX = 2_833 + 8 * 5_667;

/** Where the context of a model is unknown, what a file or a sound can fill: the longest context on the market. */
export const CONTEXT_TOKENS_UNKNOWN = 2_097_152;

/** Models that count pictures for less, by the start of their name; the first that fits holds. */
const IMAGE_TOKENS: readonly { readonly startsWith: string; readonly tokensMax: number }[] = [
  { startsWith: "gpt-4o-mini", tokensMax: IMAGE_TOKENS_MAX },
  // Patches of 32 pixels, at most 1,536, times the model's factor.
  { startsWith: "gpt-4.1-mini", tokensMax: Math.ceil(1_536 * 1.62) },
  { startsWith: "gpt-4.1-nano", tokensMax: Math.ceil(1_536 * 2.46) },
  { startsWith: "o4-mini", tokensMax: Math.ceil(1_536 * 1.72) },
  // A base and at most 8 tiles.
  { startsWith: "gpt-4o", tokensMax: 85 + 8 * 170 },
  { startsWith: "gpt-4.1", tokensMax: 85 + 8 * 170 },
  { startsWith: "o1", tokensMax: 75 + 8 * 150 },
  { startsWith: "o3", tokensMax: 75 + 8 * 150 },
  // One token for 750 pixels; the largest size that any of these models keeps is 2,576 pixels.
  { startsWith: "claude-", tokensMax: 5_000 },
];

/**
 * The most input tokens that the model can count for this request, whatever its tokenizer.
 *
 * Tokenizers of byte pairs never make more tokens than bytes, of the text that they see: see growthBytes for those that
 * change it first. The few tokens that a chat template adds to a message
 * or a tool need no allowance of their own: each message brings at least `{"role":"user","content":""},`, 29 bytes
 * of JSON that reach no tokenizer, and no template adds as many. Nor can an upstream read more than the model's
 * context.
 */
export function inputTokensMax(facts: InputFacts, model: InputModel): number {
  const context = model.contextTokens > 0 ? model.contextTokens : undefined;
  // Pages and seconds of sound do not show in a request, so these may fill the context.
  const unknown = facts.fileCount + facts.audioCount > 0 ? CONTEXT_TOKENS_UNKNOWN : 0;
  const bound = facts.textBytes + facts.imageCount * imageTokensMax(model.id) + unknown;
  return context === undefined ? bound : Math.min(bound, context * (facts.inputCount ?? 1));
}

/**
 * The most tokens that one picture can count for on a model. Names such as `openai/gpt-4o` are read after the slash.
 */
export function imageTokensMax(modelId: string): number {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  return IMAGE_TOKENS.find((row) => name.startsWith(row.startsWith))?.tokensMax ?? IMAGE_TOKENS_MAX;
}
