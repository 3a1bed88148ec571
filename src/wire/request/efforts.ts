/** The words in which wires say how much a model shall think. */
import type { Reasoning } from "../../api/index.js";
import type { ModelFacts } from "../wire.js";

/** Budgets of thinking, in tokens, up to which an effort is meant. Our own steps: no upstream says where they lie. */
const LOW_TOKENS = 2_048n;
const MEDIUM_TOKENS = 8_192n;

/** Every effort of any wire, from the lowest. */
const ORDER = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort that is meant; undefined where none is. */
export function effortOf({ effort, budgetTokens }: Reasoning): string | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  if (budgetTokens === 0n) return "none";
  // A budget below zero leaves it to the model, as Gemini's clients say it.
  if (budgetTokens < 0n) return undefined;
  return budgetTokens <= LOW_TOKENS ? "low" : budgetTokens <= MEDIUM_TOKENS ? "medium" : "high";
}

/** The effort, or the one next to it that the model knows; undefined where it knows none. */
export function nearestEffort(effort: string, efforts: readonly string[]): string | undefined {
  const wanted = ORDER.indexOf(effort);
  if (wanted === -1 || efforts.includes(effort)) return efforts.length === 0 ? undefined : effort;
  return efforts.find((known) => ORDER.indexOf(known) > wanted) ?? efforts.at(-1);
}

/** What models that are told an effort know, where nobody says more. */
const USUAL_EFFORTS: readonly string[] = ["low", "medium", "high"];

/** The efforts that a model can be told; none of one that does not think, or always does. */
export function effortsOf({ thinking, efforts }: ModelFacts): readonly string[] {
  if (thinking === "none" || thinking === "always") return [];
  return efforts ?? (thinking === "effort" ? USUAL_EFFORTS : []);
}
