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
  readonly inputCount?: number | undefined;
  readonly toolCount?: number | undefined;
  readonly definedToolCount?: number | undefined;
}

type TemplateFacts = Pick<InputFacts, "toolCount" | "definedToolCount">;

/** The model that reads the request, as its upstream names it. */
export interface InputModel {
  readonly id: string;
  /** 0 where nobody knows. */
  readonly contextTokens: number;
}

/** The signs that take more bytes in Unicode's compatibility form (NFKC), and some beside them. */
const GROWING =
  "a8-be 13f-149 1c4-1c6 2d8-2dd 344 37a-385 587 675-678 958-95f 9dc-9df a33-a36 a59-a5e b5c-b5d e33 " +
  "eb3 edc-edd f43-fb9 1fc1-1fee 2033-2037 2057 2150-2189 222c-2230 247d-2487 2a0c 2adc 309b-309f 30ff " +
  "3200-3243 327c-327d 32c0-32cb 32ff-33fe fa6c facf-fad7 fb13-fb4f fbdd-fdc7 fdf0-fdfc fe71-fe7f " +
  "fef5-fefc 1d15e-1d164 1d1bb-1d1c0 1f12a 1f200-1f201 1f240-1f248";
/** The most that a byte of such a sign becomes: \ufdfa, of three bytes, becomes 33. */
const GROWTH_PER_BYTE_MAX = 10;
/** How much is looked at sign by sign. Beyond, every byte that is not plain ASCII may have grown as much as any can. */
const EXACT_BYTES_MAX = 524_288;
const PIECE_BYTES = 4_096;

/** By code point, how many bytes longer it becomes. Higher ones do not grow. */
const GROWTH = growthOf(GROWING.split(" "));

/** Of code points that are given as ranges of hexadecimal numbers. */
function growthOf(ranges: readonly string[]): Uint8Array {
  const growth = new Uint8Array(0x1f249);
  for (const range of ranges) {
    const [first = "", last = first] = range.split("-");
    for (let code = parseInt(first, 16); code <= parseInt(last, 16); code++) {
      const sign = String.fromCodePoint(code);
      growth[code] = Math.max(0, Buffer.byteLength(sign.normalize("NFKC")) - Buffer.byteLength(sign));
    }
  }
  return growth;
}

/**
 * How many bytes longer a body may become, at most, where its model's tokenizer first writes signs by their
 * compatibility form: `\ufdfa` becomes 33 bytes of 3. 0 for a model whose tokenizer is public and does no such thing.
 * `enoughBytes` is where it no longer matters how many there are.
 */
export function growthBytes(
  body: () => Buffer,
  modelId: string,
  hasUnicodeEscapes?: boolean,
  enoughBytes = Infinity,
): number {
  if (enoughBytes <= 0 || modelTokens(modelId).countsBytes) return 0;
  const bytes = body();
  let growth = 0;
  let exactBytes = 0;
  for (let start = 0; start < bytes.length && growth < enoughBytes; start += PIECE_BYTES) {
    // An escape or a sign that goes on behind the piece belongs to it.
    const end = Math.min(start + PIECE_BYTES, bytes.length);
    const piece = bytes.subarray(start, Math.min(end + 1, bytes.length));
    if (isAscii(piece) && (hasUnicodeEscapes === false || !piece.includes("\\u"))) continue;
    exactBytes += end - start;
    growth += exactBytes > EXACT_BYTES_MAX ? GROWTH_PER_BYTE_MAX * (end - start) : growthIn(bytes, start, end);
  }
  return growth;
}

/** Of the signs and escapes that begin in a part of the bytes. */
function growthIn(bytes: Buffer, start: number, end: number): number {
  let growth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === 0x5c && bytes[at + 1] === 0x75) growth += GROWTH[spelledAt(bytes, at)] ?? 0;
    else if (byte >= 0xc2) growth += GROWTH[signAt(bytes, at, byte)] ?? 0;
  }
  return growth;
}

/** The code point of the UTF-8 sequence that begins at a place. */
function signAt(bytes: Buffer, at: number, first: number): number {
  const next = (place: number): number => (bytes[at + place] ?? 0) & 0x3f;
  if (first < 0xe0) return ((first & 0x1f) << 6) | next(1);
  if (first < 0xf0) return ((first & 0x0f) << 12) | (next(1) << 6) | next(2);
  return ((first & 0x07) << 18) | (next(1) << 12) | (next(2) << 6) | next(3);
}

/** The code point that an escape of JSON spells, with the second half of a pair behind it. */
function spelledAt(bytes: Buffer, at: number): number {
  const high = hexAt(bytes, at + 2);
  if (high < 0xd800 || high > 0xdbff) return high;
  return (high - 0xd800) * 0x400 + (hexAt(bytes, at + 8) - 0xdc00) + 0x10000;
}

function hexAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const byte = bytes[at] ?? 0;
    value = value * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57);
  }
  return value;
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

/** What an upstream tells its model before any tools: 313 to 804 tokens on Anthropic's, hundreds on open templates. */
const TOOLS_TEMPLATE_TOKENS = 1_024;
/** What it tells of a tool that the request only names: 735 tokens of a screen, 700 of an editor. */
const DEFINED_TOOL_TOKENS = 1_024;

/**
 * The most tokens that an upstream adds to a request by itself. It is in the hold, so that what is told of them can be
 * charged.
 */
export function templateTokensMax({ toolCount = 0, definedToolCount = 0 }: TemplateFacts): number {
  return toolCount > 0 ? TOOLS_TEMPLATE_TOKENS + definedToolCount * DEFINED_TOOL_TOKENS : 0;
}

/**
 * The most input tokens that the model can count for this request, whatever its tokenizer.
 *
 * Tokenizers of byte pairs never make more tokens than bytes, of the text that they see: see growthBytes for those that
 * change it first. The few tokens that a chat template adds to a message
 * or a tool need no allowance of their own: each message brings at least `{"role":"user","content":""},`, 29 bytes
 * of JSON that reach no tokenizer, and no template adds as many. What it says of tools in general has one. Nor can an
 * upstream read more than the model's context.
 */
export function inputTokensMax(facts: InputFacts, model: InputModel): number {
  const context = model.contextTokens > 0 ? model.contextTokens : undefined;
  // Pages and seconds of sound do not show in a request, so these may fill the context.
  const unknown = facts.fileCount + facts.audioCount > 0 ? CONTEXT_TOKENS_UNKNOWN : 0;
  const bound = facts.textBytes + facts.imageCount * imageTokensMax(model.id) + unknown + templateTokensMax(facts);
  return context === undefined ? bound : Math.min(bound, context * (facts.inputCount ?? 1));
}

/**
 * The most tokens that one picture can count for on a model. Names such as `openai/gpt-4o` are read after the slash.
 */
export function imageTokensMax(modelId: string): number {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  return IMAGE_TOKENS.find((row) => name.startsWith(row.startsWith))?.tokensMax ?? IMAGE_TOKENS_MAX;
}
