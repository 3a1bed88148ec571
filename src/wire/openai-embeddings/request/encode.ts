/** The body for an upstream: the client's own but for the model's name, or the texts of a typed request. */
import assert from "node:assert/strict";
import { splice } from "../../json/splice.js";
import type { OwnedFields, WireRequest } from "../../wire.js";
import { scanRequest } from "./scan.js";
import { WIRE_NAME } from "../facts.js";
import { EmbeddingRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes, or the texts of a service that asked in the typed form. */
export function encodeRequest(request: WireRequest, owned: OwnedFields): Buffer {
  const { source, embedding, facts } = request;
  if (source?.wire === WIRE_NAME) {
    if (owned.model === facts.model) return source.body;
    const { open, members } = request instanceof EmbeddingRequest ? request.scan : scanRequest(source.body);
    return splice(source.body, open, members, new Map([["model", JSON.stringify(owned.model)]]));
  }
  assert(embedding !== undefined, "only a request for vectors comes here");
  const { dimensions } = embedding;
  return Buffer.from(JSON.stringify({ model: owned.model, input: embedding.inputs(), dimensions }));
}
