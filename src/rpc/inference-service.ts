/** InferenceService: hands a request to the gateway, once its size is known to be bearable. */
import type { Generation, InferenceServiceService, Source } from "../api/index.js";
import { TYPED_FORM } from "../api/typed-form.js";
import { BODY_BYTES_MAX, bodyTooLarge } from "../api/body-limit.js";
import type { CoreParts } from "./core.js";
import type { Handlers, ServiceCall } from "./handler.js";
import { requireScope } from "./permission.js";
import { replayMethods } from "./replayed.js";

export function inferenceService(
  core: Pick<CoreParts, "gateway" | "replays">,
): Handlers<typeof InferenceServiceService> {
  const { gateway } = core;
  return {
    ...replayMethods(core),
    streamGenerate: (request, call, sink) => {
      noteGeneration(request.generation, call);
      checkGeneration(request.generation);
      return gateway.streamGenerate(request, call, sink);
    },
    generate: (request, call) => {
      noteGeneration(request.generation, call);
      checkGeneration(request.generation);
      return gateway.generate(request, call, call.head);
    },
    countTokens: (request, call) => {
      checkGeneration(request.generation);
      return gateway.countTokens(request, call);
    },
    embed: (request, call) => {
      noteFormat(request.source?.wire, request.model, call);
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

/** What the record says of a request that may be refused before it is read. */
function noteGeneration(generation: Generation | undefined, call: ServiceCall): void {
  const input = generation?.input;
  noteFormat(input?.$case === "source" ? input.value.wire : undefined, generation?.model ?? "", call);
}

function noteFormat(wire: string | undefined, model: string, { record }: ServiceCall): void {
  if (record === undefined) return;
  record.format = wire ?? TYPED_FORM;
  record.model = model;
}

function checkGeneration(generation: Generation | undefined): void {
  if (generation?.input?.$case === "source") checkSource(generation.input.value);
}

function checkSource(source: Source | undefined): void {
  if (source !== undefined && source.body.length > BODY_BYTES_MAX) throw bodyTooLarge();
}
