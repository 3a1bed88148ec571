/** The request that asks an upstream how many tokens its input has. */
import { JsonCursor } from "../../json/cursor.js";
import { readMembers, splice } from "../../json/splice.js";
import type { ModelFacts, WireRequest } from "../../wire.js";
import { encodeRequest } from "./encode.js";

/** What an answer needs and a count refuses. */
const ONLY_FOR_ANSWERS = [
  "max_tokens",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "metadata",
  "service_tier",
];

/** The body that asks how many tokens the request's input has. */
export function countRequest(request: WireRequest, model: string, facts?: ModelFacts): Buffer {
  const { candidateCount } = request.facts;
  const owned = { model, facts, outputTokensMax: undefined, stream: false, candidateCount };
  const body = encodeRequest(request, owned, {});
  const cursor = new JsonCursor(body);
  const open = cursor.at;
  return splice(body, open, readMembers(cursor), new Map(ONLY_FOR_ANSWERS.map((key) => [key, undefined])));
}
