/** Writes the vectors for a client, as the list that it sent or as the one vector. */
import type { EmbedResponse } from "../../../../api/index.js";
import { NO_USAGE } from "../../../../api/usage.js";
import type { WireRequest } from "../../../wire.js";
import { GeminiEmbeddingRequest } from "../request/decode.js";

export function encodeAnswer({ embeddings, usage }: EmbedResponse, asked: WireRequest): Buffer {
  const vectors = embeddings.map(({ values }) => ({ values: [...values] }));
  const { inputTokens = 0n } = usage ?? NO_USAGE;
  const usageMetadata = { promptTokenCount: Number(inputTokens) };
  const isBatch = asked instanceof GeminiEmbeddingRequest && asked.isBatch;
  const told = isBatch ? { embeddings: vectors } : { embedding: vectors[0] ?? { values: [] } };
  return Buffer.from(JSON.stringify({ ...told, usageMetadata }));
}
