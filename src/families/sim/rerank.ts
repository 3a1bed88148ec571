/** The stand-in's rankings: documents that share words with the query come first. */
import { z } from "zod";
import type { BuiltInModel } from "../family.js";
import { pieces } from "./pieces.js";
import { parseBody, SimRefusal } from "./refusal.js";

export const SIM_RERANK_MODEL: BuiltInModel = {
  id: "sim-rerank-1",
  contextTokens: 8_000,
  outputTokensMax: 0,
  kind: "rerank",
};

const DOCUMENTS_MAX = 1_000;
const documentSchema = z.union([z.string(), z.looseObject({ text: z.string() })]);
const bodySchema = z.looseObject({
  model: z.string(),
  query: z.string().min(1),
  documents: z.array(documentSchema).min(1).max(DOCUMENTS_MAX),
  top_n: z.number().int().min(1).nullish(),
});

/** Answers a request for a ranking. Throws a SimRefusal that names what is wrong. */
export function answerRerank(bytes: Buffer | undefined): string {
  const body = parseBody(bytes, bodySchema, SIM_RERANK_MODEL.id);
  const query = wordsOf(body.query);
  const documents = body.documents.map((one) => pieces(typeof one === "string" ? one : one.text));
  const longest = Math.max(...documents.map((document) => document.length + query.size));
  if (longest > SIM_RERANK_MODEL.contextTokens) {
    const message = `Its maximum context length is ${SIM_RERANK_MODEL.contextTokens} tokens, not ${longest}.`;
    throw new SimRefusal(400, message, "documents", "context_length_exceeded");
  }
  const results = documents
    .map((document, index) => ({ index, relevance_score: shareOf(query, document) }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index)
    .slice(0, body.top_n ?? undefined);
  const queryTokens = pieces(body.query).length;
  const tokens = documents.reduce((sum, document) => sum + document.length + queryTokens, 0);
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  return JSON.stringify({ model: SIM_RERANK_MODEL.id, results, usage });
}

/** How many of the query's words the document has, from 0 to 1. */
function shareOf(query: ReadonlySet<string>, document: readonly string[]): number {
  const words = new Set(document.map(wordOf));
  const found = [...query].filter((word) => words.has(word)).length;
  return Math.round((found / Math.max(1, query.size)) * 10_000) / 10_000;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(pieces(text).map(wordOf));
}

function wordOf(piece: string): string {
  return piece.trim().toLowerCase();
}
