/** What a model of this wire takes and refuses: what is known of it, and for the rest what no model refuses. */
import type { ModelFacts } from "../wire.js";

export interface ModelRules {
  /** The most tokens of an answer, which the wire wants to be told. */
  readonly outputTokensMax: number;
  readonly sampling: "both" | "one" | "none";
  readonly thinking: "adaptive" | "budget" | "none";
  readonly withoutThinking: "disabled" | "between_tools" | "effort";
  readonly efforts: readonly string[];
  readonly forcedTools: boolean;
  readonly prefill: boolean;
  readonly systemTurns: boolean;
  readonly schemas: boolean;
}

/** A model that nobody knows is most likely newer than what is known, and is asked for nothing that only some take. */
const UNKNOWN: ModelRules = {
  // Assumed: no model that still answers has less, but for the first ones, which are known.
  outputTokensMax: 32_000,
  sampling: "none",
  thinking: "adaptive",
  withoutThinking: "effort",
  efforts: ["low", "medium", "high", "max"],
  forcedTools: false,
  prefill: false,
  systemTurns: false,
  schemas: true,
};

export function rulesOf(facts: ModelFacts = {}): ModelRules {
  const { thinking } = facts;
  return {
    outputTokensMax: facts.outputTokensMax ?? UNKNOWN.outputTokensMax,
    sampling: facts.sampling ?? UNKNOWN.sampling,
    thinking: thinking === "budget" || thinking === "none" ? thinking : UNKNOWN.thinking,
    withoutThinking: facts.withoutThinking ?? UNKNOWN.withoutThinking,
    efforts: facts.efforts ?? UNKNOWN.efforts,
    forcedTools: facts.forcedTools ?? UNKNOWN.forcedTools,
    prefill: facts.prefill ?? UNKNOWN.prefill,
    systemTurns: facts.systemTurns ?? UNKNOWN.systemTurns,
    schemas: facts.schemas ?? UNKNOWN.schemas,
  };
}
