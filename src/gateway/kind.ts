/** Which kind of request it is, and whether the model supports that kind and has a price for what it is billed by. */
import { type ModelKind, MODEL_KINDS } from "../api/model-kinds.js";
import { unitWords } from "../api/meters.js";
import { GatewayError } from "../base/errors.js";
import { BY_TOKENS, endpointFor } from "../families/family.js";
import { isUnitPriced } from "../pricing/rates.js";
import type { ServedModel } from "../routing/model.js";
import { targetsFor } from "../routing/pick.js";
import type { WireRequest } from "../wire/wire.js";

/** The kind of the request. Throws PARAMETER_INVALID if the model does not support it, or has no price for it. */
export function kindOf(request: WireRequest, model: ServedModel): ModelKind {
  const isGeneration = request.embedding === undefined && request.facts.surface === undefined;
  const isPlainChat = isGeneration && (model.kind === undefined || model.kind === "chat");
  if (isPlainChat && !model.price.tokensUnpriced) return "chat";
  const kind = request.facts.surface ?? (request.embedding === undefined ? askedOf(request, model) : "embedding");
  const isMeant = model.kind === undefined || model.kind === kind;
  if (isMeant && targetsFor(model, kind).length > 0) {
    requirePrice(request, model, kind);
    return kind;
  }
  const meant = model.kind === undefined || model.kind === kind ? "" : `; it is made for ${wordsOf(model.kind)}`;
  throw refused(`the model '${model.id}' is not made for ${wordsOf(kind)}${meant}`);
}

/** Only the completions wire makes a completion; everything else that generates is a chat. */
function askedOf({ source }: WireRequest, model: ServedModel): ModelKind {
  const isText = model.targets.some((target) => {
    const endpoint = target.served.family.endpoints?.completion;
    return endpoint !== undefined && endpoint.wire.name === source?.wire;
  });
  return isText && model.kind === "completion" ? "completion" : "chat";
}

/** A unit without a price would be free: each target must bill by one that has a price. */
function requirePrice(request: WireRequest, model: ServedModel, kind: ModelKind): void {
  for (const { served } of targetsFor(model, kind)) {
    const units = endpointFor(served.family, request, kind).units ?? BY_TOKENS;
    if (units.some((unit) => isUnitPriced(model.price, unit))) continue;
    const names = units.map((unit) => (unit === "token" ? "tokens" : unitWords(unit, "", 2n))).join(" or ");
    throw refused(`the model '${model.id}' has no price for ${names}, so it is not sold for ${wordsOf(kind)}`);
  }
}

function wordsOf(kind: ModelKind): string {
  return MODEL_KINDS[kind].words;
}

function refused(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "model", problem });
}
