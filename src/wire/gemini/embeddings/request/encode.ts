/** The body for an upstream: a batch of texts in one request. */
import assert from "node:assert/strict";
import type { GatewayError } from "../../../../base/errors.js";
import { unsupported } from "../../../error/refusals.js";
import { type EmbeddingText, GeminiEmbeddingRequest } from "./decode.js";
import type { OwnedFields, WireRequest } from "../../../wire.js";

/** Throws PARAMETER_UNSUPPORTED for tokens: they are those of another model. */
export function encodeRequest(request: WireRequest, { model }: OwnedFields): Buffer {
  const { embedding } = request;
  if (request instanceof GeminiEmbeddingRequest) {
    const requests = request.texts.map((text) => encodeText(text, model, request.dimensions));
    return Buffer.from(JSON.stringify({ requests }));
  }
  assert(embedding !== undefined, "only a request for vectors comes here");
  const requests = embedding.inputs().map((input) => {
    if (typeof input !== "string") throw tokensRefused(model);
    return encodeText({ text: input, taskType: undefined, title: undefined }, model, embedding.dimensions);
  });
  return Buffer.from(JSON.stringify({ requests }));
}

/** A request of a batch, as Google's servers take it. */
function encodeText({ text, taskType, title }: EmbeddingText, model: string, dimensions: number | undefined): object {
  const content = { parts: [{ text }] };
  return { model: `models/${model}`, content, taskType, title, outputDimensionality: dimensions };
}

function tokensRefused(model: string): GatewayError {
  const problem = "it takes texts, and these are tokens of another model";
  return unsupported("input", problem, { model });
}
