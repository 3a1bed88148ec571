/** What a model of this wire takes: what is known of it, and for the rest what the newest take. */
import type { ModelFacts } from "../../wire.js";

export interface ModelRules {
  /** How its thinking is steered: by a level, by a budget of tokens, or not at all. */
  readonly thinking: "level" | "budget" | "none";
  /** The levels that it knows, from the lowest. */
  readonly levels: readonly string[];
  /** The budget of tokens that stands for each effort, from none to max. */
  readonly budgets: Readonly<Record<string, number>>;
  /** True where a replayed call of a tool must bring the signature that it came with. */
  readonly needsSignature: boolean;
  /** True where the result of a tool may hold pictures. */
  readonly mediaInResults: boolean;
}

const LEVELS = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

export function rulesOf(facts: ModelFacts = {}): ModelRules {
  const { thinking, efforts } = facts;
  return {
    thinking: thinking === "budget" ? thinking : thinking === "none" || thinking === "always" ? "none" : "level",
    levels: efforts?.map((effort) => effort.toUpperCase()) ?? LEVELS,
    budgets: facts.budgets ?? {},
    needsSignature: facts.signedCalls ?? true,
    mediaInResults: facts.resultImages ?? true,
  };
}
