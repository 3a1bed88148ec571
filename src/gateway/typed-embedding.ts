/** An embedding request in the typed form, as services send it over gRPC. */
import { invalid } from "../api/check.js";
import type { EmbedRequest } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { INPUTS_MAX, readOnlyFacts, markedBytes, noPrompt } from "../wire/request/read-only.js";
import type { WireRequest } from "../wire/wire.js";

const MODEL_LENGTH_MAX = 256;

/** Makes the checks that a wire would make, and extracts the facts. Throws PARAMETER_MISSING or PARAMETER_INVALID. */
export function typedEmbedding({
  model,
  texts,
  dimensions,
}: Pick<EmbedRequest, "model" | "texts" | "dimensions">): WireRequest {
  if (model === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (model.length > MODEL_LENGTH_MAX) throw invalid("model", "is too long");
  if (texts.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "texts" });
  if (texts.length > INPUTS_MAX) throw invalid("texts", `must be at most ${INPUTS_MAX}`);
  if (dimensions === 0) throw invalid("dimensions", "must be at least 1");
  return {
    facts: readOnlyFacts(model, markedBytes(texts), texts.length),
    source: undefined,
    isPlain: true,
    embedding: { encoding: "float", dimensions, inputs: () => texts },
    prompt: noPrompt,
  };
}
