/** Counts tokens: exactly with OpenAI's public tokenizers, off the event loop, or near them for everyone else. */
import type { SlicedText } from "../base/bytes/sliced-text.js";
import { type Encoding, modelTokens } from "./model-tokens.js";
import { estimateTokens } from "./text-runs.js";
import { type CountLane, TokenCounter } from "./token-counter.js";

/** Characters of one text that are counted; the rest is estimated. */
const COUNTED_CHARS_MAX = 4_000_000;
/** How long the worker, with its 40 MB of vocabulary, stays with nothing to do. */
const IDLE_MS = 60_000;

/** For whom is counted, and what for. */
export interface CountFor {
  /** The account that the work is done for; the accounts take turns. */
  readonly account: string;
  readonly lane: CountLane;
  /** Where more tokens make no difference, such as at the end of the model's context. Absent: nowhere. */
  readonly tokensMax?: number;
}

// No tokenizer of the field makes fewer than half the tokens of another.
const TOKENIZERS_DIFFER = 2;

const NOBODY: CountFor = { account: "", lane: "question" };

/**
 * The tokens of a text as a model counts them, or near that where its tokenizer is not ours. Never rejects: what cannot
 * be counted, because the worker is overrun or the text is too long, is estimated. So it serves a charge, and no upper
 * bound.
 */
export async function countTokens(text: SlicedText, modelId: string, countFor: CountFor = NOBODY): Promise<number> {
  return (await countOrEstimate(text, modelId, countFor)).tokens;
}

/** The same, and how many of them the text has for certain: none where a part of it had to be estimated. */
export async function countOrEstimate(
  text: SlicedText,
  modelId: string,
  countFor: CountFor,
): Promise<{ readonly tokens: number; readonly certainTokens: number }> {
  const { encoding, exact, perThousand } = modelTokens(modelId);
  const known = await count(text, encoding, countFor, 1_000 / perThousand);
  const counted = known ?? estimateTokens(text, 0, Math.min(text.length, COUNTED_CHARS_MAX));
  const all = counted + estimateTokens(text, COUNTED_CHARS_MAX);
  // Down, so that the pieces of a text never count for more than the whole.
  const tokens = Math.floor((all * perThousand) / 1_000);
  const isEstimate = known === undefined || text.length > COUNTED_CHARS_MAX;
  return { tokens, certainTokens: isEstimate ? 0 : exact ? tokens : Math.floor(tokens / TOKENIZERS_DIFFER) };
}

/** How much of a text is looked at where a rough estimate does. */
const ROUGH_CHARS_MAX = 512;

/** About the tokens of a text, all of which is taken to be like its beginning: for what is asked of every answer. */
export function roughTokens(text: string): number {
  const chars = Math.min(text.length, ROUGH_CHARS_MAX);
  return chars === 0 ? 0 : (estimateTokens(text, 0, chars) * text.length) / chars;
}

/**
 * The tokens of a text, counted to the end or to where more make no difference; undefined where that cannot be, so that
 * a hold can fall back to bytes. Never rejects.
 */
export async function countTokensExactly(
  text: SlicedText,
  encoding: Encoding,
  countFor: CountFor = NOBODY,
): Promise<number | undefined> {
  if (text.length > COUNTED_CHARS_MAX) return undefined;
  return count(text, encoding, countFor, 1);
}

async function count(
  text: SlicedText,
  encoding: Encoding,
  { account, lane, tokensMax = Infinity }: CountFor,
  ownPerCounted: number,
): Promise<number | undefined> {
  if (text.length === 0) return 0;
  counter ??= new TokenCounter(IDLE_MS, () => (counter = undefined));
  const chars = Math.min(text.length, COUNTED_CHARS_MAX);
  return counter.count({ text, chars, encoding, account, lane, tokensMax: Math.ceil(tokensMax * ownPerCounted) });
}

/** How many texts wait to be counted. */
export function waitingCounts(): number {
  return counter?.waiting ?? 0;
}

/** Ends the worker, if there is one. The next count starts another. */
export async function closeTokenCounter(): Promise<void> {
  await counter?.close();
}

let counter: TokenCounter | undefined;
