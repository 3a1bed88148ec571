/** What the gateway owns of a body that it writes for an upstream, whatever the wire. */
import type { Prompt } from "../../api/index.js";
import type { OwnedFields, RequestFacts, WireRequest } from "../wire.js";
import { refuseUnsaid } from "./dropped-parameters.js";

/** What a body is written anew from. */
export interface Unwritten {
  readonly prompt: Prompt;
  /** The client's own limit stands where the gateway has none. */
  readonly owned: OwnedFields;
  /** True where the client asked in another wire, so that what this one cannot say is refused or left out. */
  readonly isForeign: boolean;
}

/** The typed prompt for a wire; `fit` changes what came in another one. Throws PARAMETER_* where it cannot be said. */
export function unwritten(
  request: WireRequest,
  owned: OwnedFields,
  wire: string,
  fit: (prompt: Prompt) => Prompt,
): Unwritten {
  const outputTokensMax = owned.outputTokensMax ?? request.facts.outputTokensMax;
  const isForeign = request.source !== undefined;
  if (isForeign) refuseUnsaid(request.prompt(), wire, owned.model);
  const prompt = isForeign ? fit(request.prompt()) : request.prompt();
  return { prompt, owned: { ...owned, outputTokensMax }, isForeign };
}

/** What differs of a client's own body, where its members are `model` and `stream`, and its limit is called so. */
export function ownedEdits(
  owned: OwnedFields,
  facts: RequestFacts,
  limitName?: string,
): Map<string, Buffer | string | undefined> {
  const edits = new Map<string, Buffer | string | undefined>();
  if (owned.model !== facts.model) edits.set("model", JSON.stringify(owned.model));
  if (owned.stream !== facts.stream) edits.set("stream", String(owned.stream));
  const { outputTokensMax } = owned;
  if (limitName !== undefined && outputTokensMax !== undefined && outputTokensMax !== facts.outputTokensMax)
    edits.set(limitName, String(outputTokensMax));
  return edits;
}
