/** The body for an upstream: the client's own, with the model's name, and with the names that its dialect has. */
import assert from "node:assert/strict";
import { unsupported } from "../../error/refusals.js";
import { splice } from "../../json/splice.js";
import { isLongBody } from "../../json/weight.js";
import { editCache } from "../../request/prompt-cache.js";
import type { Dialect, OwnedFields, WireRequest } from "../../wire.js";
import { DIALECT, type RerankDialect } from "../facts.js";
import { documentText, readRequest, RerankRequest, type Said } from "./decode.js";

/** `dropped` takes what the upstream has no place for. Throws PARAMETER_UNSUPPORTED for a document that is no text. */
export function encodeRequest(
  request: WireRequest,
  owned: OwnedFields,
  dialect: Dialect,
  dropped: string[] = [],
): Buffer {
  assert(request.source !== undefined, "only a body of this wire comes here");
  const asked = request instanceof RerankRequest ? request : readRequest(request.source);
  const { body } = asked.source;
  const { open, members, hasObjects } = asked.scan;
  const { limit, textsOnly, tellsDocuments }: RerankDialect = { ...DIALECT, ...dialect };
  const edits = new Map<string, Buffer | string | undefined>();
  if (owned.model !== request.facts.model) edits.set("model", JSON.stringify(owned.model));
  const has = (name: string): boolean => members.some(({ key }) => key === name);
  const other = limit === "top_n" ? "top_k" : "top_n";
  if (has(other)) {
    const { resultsMax } = asked.said;
    edits.set(other, undefined);
    if (resultsMax !== undefined) edits.set(limit, String(resultsMax));
  }
  if (textsOnly && hasObjects) edits.set("documents", JSON.stringify(textsOf(asked.said, owned.model)));
  if (!tellsDocuments && has("return_documents")) {
    edits.set("return_documents", undefined);
    // Of a long request nobody has the documents any more when its answer comes.
    if (isLongBody(body) && asked.said.returnsDocuments) dropped.push("return_documents");
  }
  editCache(body, members, owned.cache, edits);
  return edits.size === 0 ? body : splice(body, open, members, edits);
}

/** Each document as text: that of an object is its member `text`. */
function textsOf({ documents }: Said, model: string): string[] {
  return documents.map((one, place) => {
    const text = documentText(one);
    if (text !== undefined) return text;
    throw unsupported(`documents[${place}]`, "its upstream takes texts alone; send a string or an object with a text", {
      model,
    });
  });
}
