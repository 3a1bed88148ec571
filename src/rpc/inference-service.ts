/** InferenceService: hands a request to the gateway, once its size is known to be bearable. */
import type { Generation, InferenceServiceService, Source } from "../api/index.js";
import { BODY_BYTES_MAX, bodyTooLarge } from "./bounds.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { requireScope } from "./permission.js";
import { replayMethods } from "./replayed.js";

export function inferenceService(
  core: Pick<CoreParts, "gateway" | "replays">,
): Handlers<typeof InferenceServiceService> {
  const { gateway } = core;
  return {
    ...replayMethods(core),
    streamGenerate: (request, call, sink) => {
      checkGeneration(request.generation);
      return gateway.streamGenerate(request, call, sink);
    },
    generate: (request, call) => {
      checkGeneration(request.generation);
      return gateway.generate(request, call, call.head);
    },
    countTokens: (request, call) => {
      checkGeneration(request.generation);
      return gateway.countTokens(request, call);
    },
    embed: (request, call) => {
      checkSource(request.source);
      return gateway.embed(request, call, call.head);
    },
    estimateCost: (request, call) => {
      // What a key may not ask, it learns nothing of.
      requireScope(request.embedding === undefined ? "chat" : "embeddings", call.caller);
      checkGeneration(request.generation);
      checkSource(request.embedding?.source);
      return gateway.estimateCost(request, call);
    },
  };
}

function checkGeneration(generation: Generation | undefined): void {
  if (generation?.input?.$case === "source") checkSource(generation.input.value);
}

function checkSource(source: Source | undefined): void {
  if (source !== undefined && source.body.length > BODY_BYTES_MAX) throw bodyTooLarge();
}
