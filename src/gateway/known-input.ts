/** How many tokens the input of a request has, as well as anyone can tell before it runs. */
import { TokenSource } from "../api/index.js";
import { modelTokens } from "../pricing/model-tokens.js";
import type { ServedModel } from "../routing/model.js";
import type { WireRequest } from "../wire/wire.js";
import { countInput } from "./count.js";
import type { GatewayCall } from "./gateway.js";
import type { Steps } from "./steps.js";

export interface KnownInput {
  readonly tokens: number;
  readonly source: TokenSource;
}

/** By the model's own upstream where that counts, else by ours. Rejects where the upstream refuses the request. */
export async function knownInput(
  request: WireRequest,
  model: ServedModel,
  call: GatewayCall,
  steps: Steps,
): Promise<KnownInput> {
  const counted = await steps.routing.count(request, model, call.signal);
  if (counted !== undefined) return { tokens: counted, source: TokenSource.TOKEN_SOURCE_UPSTREAM };
  const { imageCount, fileCount, audioCount } = request.facts;
  const hasMedia = imageCount + fileCount + audioCount > 0;
  const first = model.targets[0]?.model ?? model.id;
  const isOurs = model.targets.every(
    ({ served, model: name }) => served.family.countsLikeOurs && modelTokens(name).exact,
  );
  return {
    tokens: await countInput(request, first),
    source: isOurs && !hasMedia ? TokenSource.TOKEN_SOURCE_TOKENIZER : TokenSource.TOKEN_SOURCE_ESTIMATE,
  };
}
