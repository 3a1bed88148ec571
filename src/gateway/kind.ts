/** Which kind of request it is (chat, completion or embedding), and whether the model supports that kind. */
import { GatewayError } from "../base/errors.js";
import type { ModelKind } from "../families/family.js";
import type { ServedModel } from "../routing/model.js";
import { targetsFor } from "../routing/pick.js";
import type { WireRequest } from "../wire/wire.js";

/** The words for each kind in a refusal. */
const ASKED: Readonly<Record<ModelKind, string>> = {
  chat: "chats",
  completion: "completions of a text",
  embedding: "embeddings",
};

/** The kind of the request. Throws PARAMETER_INVALID if the model does not support it. */
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

/** Only the completions wire makes a completion; everything else that generates is a chat. */
function askedOf({ source }: WireRequest, model: ServedModel): ModelKind {
  const isText = model.targets.some((target) => {
    const endpoint = target.served.family.endpoints?.completion;
    return endpoint !== undefined && endpoint.wire.name === source?.wire;
  });
  return isText && model.kind === "completion" ? "completion" : "chat";
}
