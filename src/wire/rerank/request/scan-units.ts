/**
 * Search units, as Cohere bills them: a unit is one query with up to 100 documents, and a document that is longer than
 * 500 tokens with its query counts once for each 500.
 */

const UNIT_DOCUMENTS = 100;
const PIECE_TOKENS = 500;
/** The query is in each piece. Nobody says how long it may get: half of a piece is taken to be the document's. */
const PIECE_DOCUMENT_TOKENS_MIN = PIECE_TOKENS / 2;
/** What Cohere reads of a document where the request does not say, by tokens and by pieces. */
const DOCUMENT_TOKENS_DEFAULT = 4_096;
const DOCUMENT_PIECES_DEFAULT = 10;

/** What the request says of how much of each document is read; undefined where it does not. */
export interface DocumentLimits {
  readonly tokens: number | undefined;
  readonly pieces: number | undefined;
}

/** How many tokens a query and each of its documents have. */
export interface RankingTokens {
  readonly query: number;
  readonly documents: readonly number[];
}

/** The units that a ranking most likely has. */
export function searchUnits({ query, documents }: RankingTokens, { tokens }: DocumentLimits): number {
  const most = tokens ?? DOCUMENT_TOKENS_DEFAULT;
  return unitsOf(documents, (document) => (Math.min(document, most) + query) / PIECE_TOKENS);
}

/** The most that it has: of whoever does not know a limit of the request, by the server's own. */
export function searchUnitsMax(
  { query, documents }: RankingTokens,
  { tokens = 0, pieces = DOCUMENT_PIECES_DEFAULT }: DocumentLimits,
): number {
  const most = Math.max(tokens, DOCUMENT_TOKENS_DEFAULT, pieces * PIECE_TOKENS);
  const piece = Math.max(PIECE_DOCUMENT_TOKENS_MIN, PIECE_TOKENS - query);
  return unitsOf(documents, (document) => Math.min(document, most) / piece);
}

function unitsOf(documents: readonly number[], pieces: (document: number) => number): number {
  const all = documents.reduce((sum, document) => sum + Math.max(1, Math.ceil(pieces(document))), 0);
  return Math.ceil(all / UNIT_DOCUMENTS);
}
