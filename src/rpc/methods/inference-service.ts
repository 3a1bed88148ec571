/** InferenceService: the gateway's methods, and those for answers that were made before. */
import type { EstimateCostRequest, InferenceServiceService } from "../../api/index.js";
import { type ModelKind, MODEL_KINDS } from "../../api/model-kinds.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { requireScope } from "../call/permission.js";
import { replayMethods } from "../call/replayed.js";

function estimatedKind({ embedding, rerank, moderation, speech }: EstimateCostRequest): ModelKind {
  if (embedding !== undefined) return "embedding";
  if (rerank !== undefined) return "rerank";
  if (speech !== undefined) return "speech";
  return moderation === undefined ? "chat" : "moderation";
}

export function inferenceService(
  core: Pick<CoreParts, "gateway" | "replays">,
): Handlers<typeof InferenceServiceService> {
  const { gateway } = core;
  return {
    ...replayMethods(core),
    // As they are, without a function between: what calls them is the chain itself.
    streamGenerate: gateway.streamGenerate.bind(gateway),
    streamSpeech: gateway.streamSpeech.bind(gateway),
    countTokens: gateway.countTokens.bind(gateway),
    generate: (request, call) => gateway.generate(request, call, call.head),
    embed: (request, call) => gateway.embed(request, call, call.head),
    rerank: (request, call) => gateway.rerank(request, call, call.head),
    moderate: (request, call) => gateway.moderate(request, call, call.head),
    estimateCost: (request, call) => {
      // What a key may not ask, it learns nothing of.
      requireScope(MODEL_KINDS[estimatedKind(request)].scope, call.caller);
      return gateway.estimateCost(request, call);
    },
  };
}
