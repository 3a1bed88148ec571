/** A text that still grows: where to cut it, and how many tokens it has at least. Pure. */

// How far back a note looks for a place to cut at.
const WORD_CHARACTERS_MAX = 200;
const LETTER = /\p{L}/u;
// A mark belongs to its letter, and what follows an apostrophe may; half a pair is no character.
const GOES_ON = /[\p{L}\p{M}\p{N}\p{Cs}'\u2019]/u;

/**
 * Where to cut a text that still grows: behind its last whole word, in any script. No token crosses that place, so the
 * counts of the pieces are the count of the whole. Undefined where there is none close by.
 */
export function wordEnd(text: string, start: number): number | undefined {
  const least = Math.max(start + 1, text.length - WORD_CHARACTERS_MAX);
  for (let at = text.length - 1; at >= least; at -= 1) {
    if (!GOES_ON.test(text.charAt(at)) && LETTER.test(text.charAt(at - 1))) return at;
  }
  return undefined;
}

// Every tokenizer of the field splits text first by a pattern like this one and makes at least one token of each piece.
const WORD = String.raw`[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+(?:'(?:[sdmt]|ll|ve|re))?`;
const REST = String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const PIECES = new RegExp(`${WORD}|${REST}`, "giu");

/** A number of tokens that the text has at least: for a note that cannot wait for the count. */
export function tokensAtLeast(text: string): number {
  let count = 0;
  PIECES.lastIndex = 0;
  while (PIECES.test(text)) count += 1;
  return count;
}
