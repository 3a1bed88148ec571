/** Tools that take free text, for wires that know functions alone: a function with the text as its one argument. */
import type { Message, Part, Prompt, Tool } from "../../api/index.js";
import { objectOf, parsed } from "../json/value.js";

const FREE_TEXT = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}';

/** The prompt with functions in their place, in the conversation too. The very same where it has none. */
export function withFunctions(prompt: Prompt): Prompt {
  const isCustom = ({ kind }: Part): boolean => kind?.$case === "toolCall" && kind.value.custom;
  const hasTools = prompt.tools.some(({ kind }) => kind?.$case === "custom");
  const hasCalls = prompt.messages.some(({ parts }) => parts.some(isCustom));
  if (!hasTools && !hasCalls) return prompt;
  return {
    ...prompt,
    messages: prompt.messages.map(functionMessage),
    tools: prompt.tools.map(functionTool),
    toolChoice: prompt.toolChoice && { ...prompt.toolChoice, custom: false },
  };
}

function functionTool(tool: Tool): Tool {
  if (tool.kind?.$case !== "custom") return tool;
  const { name, description, formatJson } = tool.kind.value;
  const grammar = formatJson === undefined ? "" : `\n\nThe input has this form: ${formatJson}`;
  const told = `${description ?? ""}${grammar}`.trim();
  const value = { name, description: told || undefined, parametersJson: FREE_TEXT, strict: undefined };
  return { ...tool, kind: { $case: "function", value } };
}

function functionMessage(message: Message): Message {
  return { ...message, parts: message.parts.map(functionCall) };
}

function functionCall(part: Part): Part {
  if (part.kind?.$case !== "toolCall" || !part.kind.value.custom) return part;
  const call = part.kind.value;
  const value = { ...call, custom: false, arguments: JSON.stringify({ input: call.arguments }) };
  return { ...part, kind: { $case: "toolCall", value } };
}

/** The free text in a function's arguments; the arguments themselves where a model wrote it without its wrapping. */
export function freeText(text: string): string {
  const input = objectOf(parsed(text))?.["input"];
  return typeof input === "string" ? input : text;
}
