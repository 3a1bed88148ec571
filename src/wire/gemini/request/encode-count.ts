/** The request that asks an upstream how many tokens its input has. */
import { objectOf, parsed } from "../../json/value.js";
import type { ModelFacts, WireRequest } from "../../wire.js";
import { encodeRequest } from "./encode.js";

/** The body that asks how many tokens the request's input has: the whole request, with its tools and instructions. */
export function countRequest(request: WireRequest, model: string, facts?: ModelFacts): Buffer {
  const { candidateCount } = request.facts;
  const owned = { model, facts, outputTokensMax: undefined, stream: false, candidateCount };
  const body = encodeRequest(request, owned, {}).toString().trim();
  // The wrapped request names its model, which the path of a generation does.
  const named = JSON.stringify(`models/${model}`);
  const rest = body.slice(1).trimStart();
  const separator = rest.startsWith("}") ? "" : ",";
  const isNamed = objectOf(parsed(body))?.["model"] !== undefined;
  return Buffer.from(`{"generateContentRequest":${isNamed ? body : `{"model":${named}${separator}${rest}`}}`);
}
