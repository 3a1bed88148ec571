/** How a model of an upstream is told to think, in the member that the upstream has for it. */
import type { Reasoning } from "../../api/index.js";
import { jsonOf, type MemberTexts, objectText } from "../json/text.js";
import type { ModelFacts } from "../wire.js";
import type { OpenAiChatDialect } from "./dialect.js";

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

/** The members that say so; undefined where the upstream or the model has no place for it. */
export function thinkingMembers(
  reasoning: Reasoning,
  facts: ModelFacts,
  dialect: OpenAiChatDialect,
): MemberTexts | undefined {
  const effort = effortOf(reasoning);
  const { thinkingControl: control } = dialect;
  if (control === "reasoning_effort") return effortMember(effort, facts);
  const isKnown = facts.thinking !== undefined && facts.thinking !== "none" && facts.thinking !== "always";
  if (!isKnown && !(dialect.thinkingTolerant && facts.thinking === undefined)) return undefined;
  const isOn = effort !== "none";
  switch (control) {
    case "reasoning":
      return [[control, reasoningObject(reasoning)]];
    case "chat_template_kwargs":
      return [[control, `{"enable_thinking":${isOn}}`]];
    case "enable_thinking":
      return [
        [control, String(isOn)],
        ["thinking_budget", isOn ? jsonOf(positive(reasoning.budgetTokens)) : undefined],
      ];
    case "thinking": {
      if (facts.thinking !== "switch") return effortMember(effort, facts);
      const asked = isOn && effort !== undefined ? nearestEffort(effort, facts.efforts ?? []) : undefined;
      return [
        [control, `{"type":"${isOn ? "enabled" : "disabled"}"}`],
        ["reasoning_effort", jsonOf(asked)],
      ];
    }
    default:
      return control satisfies never;
  }
}

function effortMember(effort: string | undefined, { efforts = [] }: ModelFacts): MemberTexts | undefined {
  const nearest = effort === undefined ? undefined : nearestEffort(effort, efforts);
  return nearest === undefined ? undefined : [["reasoning_effort", JSON.stringify(nearest)]];
}

/** An effort and a budget exclude each other there; the budget is the more exact. */
function reasoningObject({ effort, budgetTokens, include }: Reasoning): string {
  const budget = positive(budgetTokens);
  const isOff = effort === "none" || budgetTokens === 0n;
  return objectText([
    ["effort", isOff ? '"none"' : budget === undefined ? jsonOf(effort) : undefined],
    ["max_tokens", isOff ? undefined : jsonOf(budget)],
    ["exclude", include === false ? "true" : undefined],
  ]);
}

function positive(tokens: bigint | undefined): bigint | undefined {
  return tokens !== undefined && tokens > 0n ? tokens : undefined;
}
