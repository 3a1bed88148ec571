/**
 * Search units, as Cohere bills them: a unit is one query with up to 100 documents, and a document that is longer than
 * 500 tokens with its query counts once for each 500.
 */

const UNIT_DOCUMENTS = 100;
const PIECE_TOKENS = 500;
/** What Cohere reads of a document where the request does not say, by tokens and by pieces. */
const DOCUMENT_TOKENS_DEFAULT = 4_096;
const DOCUMENT_PIECES_DEFAULT = 10;

/** What the request says of how much of each document is read; undefined where it does not. */
export interface DocumentLimits {
  readonly tokens: number | undefined;
  readonly pieces: number | undefined;
}

/** The tokens that Cohere reads of a document. */
export function readTokens({ tokens = DOCUMENT_TOKENS_DEFAULT }: DocumentLimits): number {
  return tokens;
}

/** The most tokens that any server reads of a document: one that does not know a limit keeps its own. */
export function readTokensMax({ tokens = 0, pieces = DOCUMENT_PIECES_DEFAULT }: DocumentLimits): number {
  return Math.max(tokens, DOCUMENT_TOKENS_DEFAULT, pieces * PIECE_TOKENS);
}

/** The units of documents of so many tokens each. */
export function searchUnits(queryTokens: number, documentTokens: readonly number[], documentTokensMax: number): number {
  let pieces = 0;
  for (const tokens of documentTokens) {
    const read = Math.min(tokens, documentTokensMax) + queryTokens;
    pieces += Math.max(1, Math.ceil(read / PIECE_TOKENS));
  }
  return Math.ceil(pieces / UNIT_DOCUMENTS);
}
