/** The wire's own counting of a request's input. */
import { JsonCursor } from "../json/cursor.js";
import { readMembers, splice } from "../json/splice.js";
import { objectOf, parsed } from "../json/value.js";
import type { ModelFacts, WireRequest } from "../wire.js";
import { encodeRequest } from "./request.js";

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

/** Reads the count. Throws where the body is none. */
export function readCount(body: Buffer): number {
  const count = objectOf(parsed(body.toString()))?.["input_tokens"];
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  throw new Error("the count cannot be read");
}
