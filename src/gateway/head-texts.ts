/** What the head of an answer says in words that come from elsewhere. */

const DROPPED_CHARACTERS_MAX = 1_000;
/** Names of models come from settings and from upstreams' lists, and may be any text. */
const HEADER_TEXT = /^[\x21-\x7e]{1,256}$/;

/** The names of parameters as a header: each once, as far as they fit. */
export function droppedText(params: readonly string[]): string {
  return [...new Set(params)].join(", ").slice(0, DROPPED_CHARACTERS_MAX);
}

/** True of a name that a header can say. */
export function fitsHeader(name: string): boolean {
  return HEADER_TEXT.test(name);
}
