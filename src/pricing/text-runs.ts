/** The runs of a text: cut where they are too long for a tokenizer, and estimated in tokens. Pure. */
import type { SlicedText } from "../base/bytes/sliced-text.js";

/**
 * A run of one class of characters is one word to the tokenizer, and its time grows with the square of a word's
 * length: a megabyte of blanks would take minutes. Longer runs are cut, which adds at most one token for each cut.
 */
const RUN_CHARS_MAX = 256;
/** About how much is counted at once, which bounds the tokens that are in memory together. */
const PART_CHARS = 16_384;
/** How much of a text is looked at for an estimate, which takes 1 ms; the rest is taken to be like it. */
const ESTIMATED_CHARS_MAX = 262_144;

/**
 * Cuts a text inside runs of one class of characters that are too long, and about each 16,384 characters before a
 * blank.
 */
export function cutRuns(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let runStart = 0;
  let runKind = -1;
  for (let i = 0; i < text.length; i++) {
    const kind = kindOf(text.charCodeAt(i));
    if (kind !== runKind) {
      if (kind === BLANK && i - start >= PART_CHARS) {
        parts.push(text.slice(start, i));
        start = i;
      }
      runKind = kind;
      runStart = i;
    } else if (i - runStart >= RUN_CHARS_MAX && !isLowSurrogate(text.charCodeAt(i))) {
      parts.push(text.slice(start, i));
      start = i;
      runStart = i;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const BLANK = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
const BEYOND_ASCII = 4;

function kindOf(code: number): number {
  if (code > 0x7f) return BEYOND_ASCII;
  if (code <= 0x20) return BLANK;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a ? LETTER : SIGN;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * The tokens of a text, about, for models whose tokenizer is not public: a word of letters is a token for each
 * started 6 letters, three digits are one, signs are one for two, and each character beyond ASCII is one. A blank
 * belongs to the word that follows. It leans high on prose and code, so that a charge by estimate is close to what
 * an upstream would charge. Of the characters from `start` up to `end`.
 */
export function estimateTokens(text: SlicedText, start = 0, end = text.length): number {
  const chars = Math.max(end - start, 0);
  if (chars <= ESTIMATED_CHARS_MAX) return estimateRuns(text.slice(start, end));
  return Math.ceil((estimateRuns(text.slice(start, start + ESTIMATED_CHARS_MAX)) * chars) / ESTIMATED_CHARS_MAX);
}

function estimateRuns(text: string): number {
  let tokens = 0;
  let run = 0;
  let runKind = -1;
  for (let i = 0; i <= text.length; i++) {
    const kind = i < text.length ? kindOf(text.charCodeAt(i)) : -1;
    if (kind === runKind) {
      run++;
      continue;
    }
    tokens += runTokens(runKind, run, kind);
    runKind = kind;
    run = 1;
  }
  return tokens;
}

function runTokens(kind: number, chars: number, nextKind: number): number {
  switch (kind) {
    case LETTER:
      return Math.ceil(chars / 6);
    case DIGIT:
      return Math.ceil(chars / 3);
    case SIGN:
      return Math.ceil(chars / 2);
    case BEYOND_ASCII:
      return chars;
    case BLANK:
      // One blank belongs to the next word, but to no number; indentation is a token for each started 16.
      return Math.ceil((nextKind === DIGIT ? chars : chars - 1) / 16);
    default:
      return 0;
  }
}
