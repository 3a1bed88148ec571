/** How a model of Anthropic's is told to think, on every wire that it is reached by. */
import { type Message, type Prompt, type Reasoning, Role } from "../../../api/index.js";
import { jsonOf, objectText } from "../../json/text.js";
import type { ModelRules } from "./encode-rules.js";
import { anthropicsOwn } from "../answer/proof.js";

export interface Thinking {
  /** The member `thinking`. */
  readonly thinking: string | undefined;
  readonly effort: string | undefined;
  /** True where it thinks: then it takes no sampling, and cannot be made to call a tool. */
  readonly isOn: boolean;
}

/** What the writing of it depends on. */
export interface ThinkingContext {
  readonly rules: ModelRules;
  /** True where thoughts are asked for as the prompt says it, if the model takes it or not. Absent: false. */
  readonly keepsThoughts?: boolean;
  /** Takes the name of what had no place and was left out. */
  readonly drop: (param: string) => void;
}

const NOT_ASKED: Thinking = { thinking: undefined, effort: undefined, isOn: false };
const BUDGET_TOKENS_MIN = 1_024;
/** What share of all output tokens each effort may think. */
const SHARES: Readonly<Record<string, number>> = { medium: 0.25, high: 0.5, xhigh: 0.75, max: 0.75 };

export function encodeReasoning(prompt: Prompt, outputTokensMax: number, context: ThinkingContext): Thinking {
  const { reasoning } = prompt;
  const { rules } = context;
  if (reasoning === undefined) return NOT_ASKED;
  if (reasoning.effort === "none" && reasoning.budgetTokens === undefined) return withoutThinking(context);
  if (rules.thinking === "none") {
    context.drop("reasoning_effort");
    return NOT_ASKED;
  }
  if (rules.thinking === "budget") return byBudget(reasoning, prompt.messages, outputTokensMax, context);
  const thinking = objectText([["type", '"adaptive"'], display(reasoning)]);
  return { thinking, effort: effortOf(reasoning.effort, context), isOn: true };
}

function withoutThinking({ rules }: ThinkingContext): Thinking {
  if (rules.thinking === "none") return NOT_ASKED;
  if (rules.withoutThinking === "effort") return { ...NOT_ASKED, effort: rules.efforts[0] };
  return { ...NOT_ASKED, thinking: `{"type":"${rules.withoutThinking}"}` };
}

function byBudget(
  reasoning: Reasoning,
  messages: readonly Message[],
  outputTokensMax: number,
  context: ThinkingContext,
): Thinking {
  const share = (SHARES[reasoning.effort ?? ""] ?? 0) * outputTokensMax;
  const wanted = reasoning.budgetTokens === undefined ? Math.floor(share) : Number(reasoning.budgetTokens);
  const budget = Math.max(BUDGET_TOKENS_MIN, Math.min(wanted, outputTokensMax - 1));
  // A tool's result is refused where the turn that called it thought nothing, and no thought can be made up.
  if (context.keepsThoughts !== true && (budget >= outputTokensMax || callsWithoutThought(messages))) {
    context.drop("reasoning_effort");
    return NOT_ASKED;
  }
  const thinking = objectText([
    ["type", '"enabled"'],
    ["budget_tokens", jsonOf(budget)],
    reasoning.include === false ? display(reasoning) : ["display", undefined],
  ]);
  return { thinking, effort: context.keepsThoughts === true ? reasoning.effort : undefined, isOn: true };
}

/** Whether thoughts are shown; a model that is not told decides itself. */
function display({ include }: Reasoning): readonly [string, string | undefined] {
  return ["display", include === undefined ? undefined : include ? '"summarized"' : '"omitted"'];
}

/** The effort, or the nearest one below it that the model knows. */
function effortOf(effort: string | undefined, { rules, drop }: ThinkingContext): string | undefined {
  if (effort === undefined || rules.efforts.includes(effort)) return effort;
  if (effort === "minimal") return rules.efforts[0];
  if (effort === "xhigh" || effort === "max") return "high";
  drop("reasoning_effort");
  return undefined;
}

/** True where the turn that waits for results has calls and no thought that could go back. */
function callsWithoutThought(messages: readonly Message[]): boolean {
  const turn = messages.findLast(({ role }) => role === Role.ROLE_ASSISTANT);
  const isWaiting = turn?.parts.some(({ kind }) => kind?.$case === "toolCall") ?? false;
  const hasThought = turn?.parts.some(
    ({ kind }) =>
      (kind?.$case === "redactedThinking" && anthropicsOwn(kind.value.data) !== undefined) ||
      (kind?.$case === "thinking" && anthropicsOwn(kind.value.signature) !== undefined),
  );
  return isWaiting && hasThought !== true;
}
