/** What a model is asked for, and whether it can be. */
import { GatewayError } from "../errors.js";
import type { ModelKind } from "../families/family.js";
import type { ServedModel } from "../routing/model.js";
import { targetsFor } from "../routing/pick.js";
import type { WireRequest } from "../wire/wire.js";

/** How a refusal names what was asked. */
const ASKED: Readonly<Record<ModelKind, string>> = {
  chat: "chats",
  completion: "completions of a text",
  embedding: "embeddings",
};

/** What the request asks of the model. Throws PARAMETER_INVALID where the model is not made for it. */
export function kindOf(request: WireRequest, model: ServedModel): ModelKind {
  const isPlainChat = request.embedding === undefined && (model.kind === undefined || model.kind === "chat");
  if (isPlainChat) return "chat";
  const kind = request.embedding === undefined ? askedOf(request, model) : "embedding";
  const isMeant = model.kind === undefined || model.kind === kind;
  if (isMeant && targetsFor(model, kind).length > 0) return kind;
  const meant = model.kind === undefined || model.kind === kind ? "" : `; it is made for ${ASKED[model.kind]}`;
  const problem = `the model '${model.id}' is not made for ${ASKED[kind]}${meant}`;
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "model", problem });
}

/** A text to go on with is one only in the wire of those that do; anything else that generates is a chat. */
function askedOf({ source }: WireRequest, model: ServedModel): ModelKind {
  const isText = model.targets.some((target) => {
    const endpoint = target.served.family.endpoints?.completion;
    return endpoint !== undefined && endpoint.wire.name === source?.wire;
  });
  return isText && model.kind === "completion" ? "completion" : "chat";
}
