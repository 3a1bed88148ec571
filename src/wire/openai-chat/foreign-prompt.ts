/** A prompt of another wire, fitted to what this one takes and to what the model refuses. */
import type { Message, Part, Prompt, Reasoning, Tool } from "../../api/index.js";
import { type ModelRules, nearestEffort, rulesOf } from "./model-rules.js";
import { fitting } from "./names.js";

/** Budgets of thinking, in tokens, up to which an effort is meant. */
const LOW_TOKENS = 2_048n;
const MEDIUM_TOKENS = 8_192n;

/** The prompt as the model takes it. What is left out is named in `dropped`. */
export function fittedPrompt(prompt: Prompt, model: string, dropped: string[]): Prompt {
  const rules = rulesOf(model);
  const { reasoning, temperature, topP } = prompt;
  const effort = reasoning === undefined ? undefined : effortOf(reasoning, rules);
  const asked = reasoning?.effort ?? reasoning?.budgetTokens;
  if (asked !== undefined && effort === undefined) dropped.push("thinking");
  if (temperature !== undefined && !rules.sampling) dropped.push("temperature");
  if (topP !== undefined && !rules.sampling) dropped.push("top_p");
  return {
    ...prompt,
    messages: prompt.messages.map(fittedMessage),
    tools: prompt.tools.map(fittedTool),
    toolChoice: prompt.toolChoice && { ...prompt.toolChoice, names: prompt.toolChoice.names.map(fitting) },
    reasoning: effort === undefined ? undefined : { effort, budgetTokens: undefined, include: undefined },
    temperature: rules.sampling ? temperature : undefined,
    topP: rules.sampling ? topP : undefined,
  };
}

function effortOf({ effort, budgetTokens }: Reasoning, rules: ModelRules): string | undefined {
  if (effort !== undefined) return nearestEffort(effort, rules);
  if (budgetTokens === undefined) return undefined;
  const meant = budgetTokens <= LOW_TOKENS ? "low" : budgetTokens <= MEDIUM_TOKENS ? "medium" : "high";
  return nearestEffort(meant, rules);
}

function fittedTool(tool: Tool): Tool {
  if (tool.kind?.$case !== "function") return tool;
  const name = fitting(tool.kind.value.name);
  return { ...tool, kind: { $case: "function", value: { ...tool.kind.value, name } } };
}

function fittedMessage(message: Message): Message {
  return { ...message, parts: message.parts.map(fittedPart) };
}

function fittedPart(part: Part): Part {
  const { kind } = part;
  switch (kind?.$case) {
    case "toolCall": {
      const value = { ...kind.value, id: fitting(kind.value.id), name: fitting(kind.value.name) };
      return { ...part, kind: { $case: "toolCall", value } };
    }
    case "toolResult": {
      const value = { ...kind.value, callId: fitting(kind.value.callId), parts: kind.value.parts.map(fittedPart) };
      return { ...part, kind: { $case: "toolResult", value } };
    }
    case "file": {
      // Files of plain text are refused here, and say the same as text.
      const { source, filename } = kind.value;
      if (source?.$case !== "inline" || !source.value.mediaType.startsWith("text/")) return part;
      const title = filename === undefined ? "" : `${filename}\n\n`;
      const text = title + source.value.data.toString();
      return { ...part, kind: { $case: "text", value: { text, citationsJson: undefined } } };
    }
    default:
      return part;
  }
}
