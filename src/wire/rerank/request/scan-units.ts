/**
 * Search units, as Cohere bills them: a unit is one query with up to 100 documents, and a document that is longer than
 * 500 tokens with its query counts once for each 500.
 */

const UNIT_DOCUMENTS = 100;
const PIECE_TOKENS = 500;
/** What Cohere reads of a document where the request does not say. */
export const DOCUMENT_TOKENS_DEFAULT = 4_096;

/** The units of documents of so many tokens each. */
export function searchUnits(queryTokens: number, documentTokens: readonly number[], documentTokensMax: number): number {
  let pieces = 0;
  for (const tokens of documentTokens) {
    const read = Math.min(tokens, documentTokensMax) + queryTokens;
    pieces += Math.max(1, Math.ceil(read / PIECE_TOKENS));
  }
  return Math.ceil(pieces / UNIT_DOCUMENTS);
}
