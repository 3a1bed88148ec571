/** InferenceService: the gateway's methods, and those for answers that were made before. */
import type { InferenceServiceService } from "../../api/index.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { requireScope } from "../call/permission.js";
import { replayMethods } from "../call/replayed.js";

export function inferenceService(
  core: Pick<CoreParts, "gateway" | "replays">,
): Handlers<typeof InferenceServiceService> {
  const { gateway } = core;
  return {
    ...replayMethods(core),
    // As they are, without a function between: what calls them is the chain itself.
    streamGenerate: gateway.streamGenerate.bind(gateway),
    countTokens: gateway.countTokens.bind(gateway),
    generate: (request, call) => gateway.generate(request, call, call.head),
    embed: (request, call) => gateway.embed(request, call, call.head),
    estimateCost: (request, call) => {
      // What a key may not ask, it learns nothing of.
      requireScope(request.embedding === undefined ? "chat" : "embeddings", call.caller);
      return gateway.estimateCost(request, call);
    },
  };
}
