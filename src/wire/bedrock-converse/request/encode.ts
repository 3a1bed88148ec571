/** Requests: written from the typed form, for no client speaks the wire. */
import type { ModelFacts, OwnedFields, UpstreamWire } from "../../wire.js";
import { rulesOf, UNKNOWN } from "../../claude/request/encode-rules.js";
import { PLAIN_NAMES, withFittedNames } from "../../request/fitted-names.js";
import { UniqueNames } from "../../request/unique-names.js";
import { unwritten } from "../../request/owned-fields.js";
import { FILENAMES } from "./encode-parts.js";
import { encodePrompt } from "./encode-prompt.js";
import { WIRE_NAME } from "../facts.js";

/** Many makers' models stand behind the wire: one that nobody knows is not told to think, and left as it is else. */
const UNKNOWN_MODEL = { ...UNKNOWN, sampling: "both", thinking: "none", forcedTools: true } as const;

export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, _dialect, dropped = []) => {
  const anew = unwritten(request, owned, WIRE_NAME, (prompt) => withFittedNames(prompt, PLAIN_NAMES));
  return encodePrompt(anew.prompt, anew.owned, {
    rules: rulesOf(toldFacts(owned), UNKNOWN_MODEL),
    cacheMarks: owned.facts?.cacheMarks === true,
    takesTopK: owned.facts?.sampling !== undefined,
    model: owned.model,
    filenames: new UniqueNames(FILENAMES),
    drop: (param) => void dropped.push(param),
  });
};

/** Whoever says that a model is told an effort, or on and off, means the wire's one way to say it. */
function toldFacts({ facts, toldFacts: told }: OwnedFields): ModelFacts | undefined {
  const isTold = told?.thinking === "effort" || told?.thinking === "switch";
  return isTold ? { ...facts, thinking: "adaptive" } : facts;
}
