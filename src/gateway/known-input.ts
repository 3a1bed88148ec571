/** How many tokens the input of a request has, as precisely as possible before it runs. */
import { TokenSource } from "../api/index.js";
import { countInput, countReadable, estimateInput, isCountExact } from "../pricing/request-tokens.js";
import type { CountFor } from "../pricing/tokens.js";
import type { ServedModel } from "../routing/model.js";
import type { WireRequest } from "../wire/wire.js";
import type { GatewayCall } from "./gateway.js";
import type { Steps } from "./steps.js";

export interface KnownInput {
  readonly tokens: number;
  readonly source: TokenSource;
}

/**
 * The upstream's count if it can count, else our own. Rejects if the upstream or the typed form refuses the request.
 */
export async function knownInput(
  request: WireRequest,
  model: ServedModel,
  call: GatewayCall,
  steps: Steps,
): Promise<KnownInput> {
  const told = await toldInput(request, model, call, steps);
  return (
    told ?? {
      tokens: await countInput(request, tokenizedAs(model), questionOf(call)),
      source: sourceOf(request, model),
    }
  );
}

/** The upstream's count; undefined if it cannot count. Rejects if it refuses the request. */
export async function toldInput(
  request: WireRequest,
  model: ServedModel,
  call: GatewayCall,
  steps: Steps,
): Promise<KnownInput | undefined> {
  const tokens = await steps.routing.count(request, model, call.caller.accountId, call.signal);
  return tokens === undefined ? undefined : { tokens, source: TokenSource.TOKEN_SOURCE_UPSTREAM };
}

/** Our own count, never above the bound that the hold uses. Never rejects. */
export async function ownInput(
  request: WireRequest,
  model: ServedModel,
  tokensMax: number,
  call: GatewayCall,
): Promise<KnownInput> {
  const counted = await countReadable(request, tokenizedAs(model), { ...questionOf(call), tokensMax });
  return {
    tokens: Math.min(counted ?? estimateInput(request), tokensMax),
    source: counted === undefined ? TokenSource.TOKEN_SOURCE_ESTIMATE : sourceOf(request, model),
  };
}

function questionOf({ caller }: GatewayCall): CountFor {
  return { account: caller.accountId, lane: "question" };
}

function tokenizedAs(model: ServedModel): string {
  return model.targets[0]?.model ?? model.id;
}

function sourceOf(request: WireRequest, { targets }: ServedModel): TokenSource {
  const isOurs = targets.every(({ served }) => served.family.tokenizerIsClose);
  const models = targets.map(({ model }) => model);
  return isOurs && isCountExact(request, models)
    ? TokenSource.TOKEN_SOURCE_TOKENIZER
    : TokenSource.TOKEN_SOURCE_ESTIMATE;
}
