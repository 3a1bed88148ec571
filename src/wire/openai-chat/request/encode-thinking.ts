/** How a model of an upstream is told to think, in the member that the upstream has for it. */
import type { Reasoning } from "../../../api/index.js";
import { jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { effortOf, effortsOf, nearestEffort } from "../../request/efforts.js";
import type { ModelFacts } from "../../wire.js";
import type { OpenAiChatDialect } from "../facts-dialect.js";

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

function effortMember(effort: string | undefined, facts: ModelFacts): MemberTexts | undefined {
  const nearest = effort === undefined ? undefined : nearestEffort(effort, effortsOf(facts));
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
