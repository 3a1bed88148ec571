/** The body for an upstream: the client's own, with the model's name. */
import assert from "node:assert/strict";
import { splice } from "../../json/splice.js";
import { editCache } from "../../request/prompt-cache.js";
import type { OwnedFields, WireRequest } from "../../wire.js";
import { ModerationRequest } from "./decode.js";
import { scanRequest } from "./scan.js";

export function encodeRequest(request: WireRequest, owned: OwnedFields): Buffer {
  assert(request.source !== undefined, "only a body of this wire comes here");
  const { body } = request.source;
  const { open, members } = request instanceof ModerationRequest ? request.scan : scanRequest(body);
  const edits = new Map<string, Buffer | string | undefined>();
  const isNamed = members.some(({ key }) => key === "model");
  if (!isNamed || owned.model !== request.facts.model) edits.set("model", JSON.stringify(owned.model));
  editCache(body, members, owned.cache, edits);
  return edits.size === 0 ? body : splice(body, open, members, edits);
}
