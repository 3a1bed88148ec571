/** The body for an upstream: the client's own but for the model's name, or the texts of a typed request. */
import assert from "node:assert/strict";
import { splice } from "../../json/splice.js";
import { jsonOf, objectText } from "../../json/text.js";
import { editCache, withCache } from "../../request/prompt-cache.js";
import type { OwnedFields, WireRequest } from "../../wire.js";
import { scanRequest } from "./scan.js";
import { WIRE_NAME } from "../facts.js";
import { EmbeddingRequest } from "./decode.js";

/** The body for an upstream: the client's own bytes, or the texts of a service that asked in the typed form. */
export function encodeRequest(request: WireRequest, owned: OwnedFields): Buffer {
  const { source, embedding, facts } = request;
  if (source?.wire === WIRE_NAME) {
    const { body } = source;
    const { open, members } = request instanceof EmbeddingRequest ? request.scan : scanRequest(body);
    const edits = new Map<string, Buffer | string | undefined>();
    if (owned.model !== facts.model) edits.set("model", JSON.stringify(owned.model));
    editCache(body, members, owned.cache, edits);
    return edits.size === 0 ? body : splice(body, open, members, edits);
  }
  assert(embedding !== undefined, "only a request for vectors comes here");
  const { dimensions } = embedding;
  const members = [
    ["model", JSON.stringify(owned.model)],
    ["input", JSON.stringify(embedding.inputs())],
    ["dimensions", jsonOf(dimensions)],
  ] as const;
  return Buffer.from(objectText(withCache(members, owned.cache)));
}
