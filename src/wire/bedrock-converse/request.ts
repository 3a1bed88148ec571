/** Requests: written from the typed form, for no client speaks the wire. */
import type { Dialect, OwnedFields, WireRequest } from "../wire.js";
import { rulesOf, UNKNOWN } from "../claude/model-rules.js";
import { encodePrompt } from "./prompt-encode.js";

/** Many makers' models stand behind the wire: one that nobody knows is not told to think, and left as it is else. */
const UNKNOWN_MODEL = { ...UNKNOWN, sampling: "both", thinking: "none", forcedTools: true } as const;

export function encodeRequest(
  request: WireRequest,
  owned: OwnedFields,
  _dialect: Dialect,
  dropped: string[] = [],
): Buffer {
  const outputTokensMax = owned.outputTokensMax ?? request.facts.outputTokensMax;
  return encodePrompt(
    request.prompt(),
    { ...owned, outputTokensMax },
    {
      rules: rulesOf(owned.facts, UNKNOWN_MODEL),
      cacheMarks: owned.facts?.cacheMarks === true,
      takesTopK: owned.facts?.sampling !== undefined,
      model: owned.model,
      drop: (param) => void dropped.push(param),
    },
  );
}
