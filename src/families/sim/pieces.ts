/** The stand-in's tokenizer: words in pieces of at most 8 letters, with the blank before them. */

const PIECE = /\s?[\p{L}\p{M}]{1,8}|\s?\p{N}{1,3}|\s?[^\s\p{L}\p{M}\p{N}]|\s{1,16}/gu;

/** The tokens of a text. Joined they are the text again. */
export function pieces(text: string): string[] {
  return text.match(PIECE) ?? [];
}
