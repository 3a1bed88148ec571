/** What a model of Anthropic's takes and refuses: what is known of it, and for the rest what no model refuses. */
import type { ModelFacts } from "../../wire.js";

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
export const UNKNOWN: ModelRules = {
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

/** How these wires say what a model is told; of one that always thinks nothing is said. */
const WAYS: ReadonlyMap<ModelFacts["thinking"], ModelRules["thinking"]> = new Map([
  ["adaptive", "adaptive"],
  ["budget", "budget"],
  ["always", "none"],
  ["none", "none"],
]);

/** `unknown` says what is taken for safe where nothing is known. */
export function rulesOf(facts: ModelFacts = {}, unknown: ModelRules = UNKNOWN): ModelRules {
  const { thinking } = facts;
  return {
    outputTokensMax: facts.outputTokensMax ?? unknown.outputTokensMax,
    sampling: facts.sampling ?? unknown.sampling,
    thinking: WAYS.get(thinking) ?? unknown.thinking,
    withoutThinking: facts.withoutThinking ?? unknown.withoutThinking,
    efforts: facts.efforts ?? unknown.efforts,
    forcedTools: facts.forcedTools ?? unknown.forcedTools,
    prefill: facts.prefill ?? unknown.prefill,
    systemTurns: facts.systemTurns ?? unknown.systemTurns,
    schemas: facts.schemas ?? unknown.schemas,
  };
}
