/** Tools that take free text, for wires that know functions alone: a function with the text as its one argument. */
import type { Message, Part, Prompt, Tool } from "../../../api/index.js";
import { FREE_TEXT_SCHEMA, freeTextDescription, wrappedText } from "../../request/free-text.js";

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
  const { name } = tool.kind.value;
  const description = freeTextDescription(tool.kind.value);
  const value = { name, description, parametersJson: FREE_TEXT_SCHEMA, strict: undefined };
  return { ...tool, kind: { $case: "function", value } };
}

function functionMessage(message: Message): Message {
  return { ...message, parts: message.parts.map(functionCall) };
}

function functionCall(part: Part): Part {
  if (part.kind?.$case !== "toolCall" || !part.kind.value.custom) return part;
  const call = part.kind.value;
  const value = { ...call, custom: false, arguments: wrappedText(call.arguments) };
  return { ...part, kind: { $case: "toolCall", value } };
}
