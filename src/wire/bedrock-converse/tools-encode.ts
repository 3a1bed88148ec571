/** Tools and the choice among them, and what a model is told in words where it cannot be made to. */
import { type Message, type Prompt, type Tool, ToolChoice_Mode } from "../../api/index.js";
import { jsonToolName } from "../claude/answer-tool.js";
import { NO_ARGUMENTS, objectSchema } from "../object-schema.js";
import { FREE_TEXT_SCHEMA, freeTextDescription } from "../free-text.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../json/text.js";
import { cachePoint, type PromptContext } from "./part-encode.js";
import { WIRE_NAME } from "./schema.js";

export interface EncodedTools {
  /** The member `toolConfig`; undefined where there are no tools. */
  readonly config: string | undefined;
  /** Added to the instructions. */
  readonly nudge: string | undefined;
}

const NO_TOOLS: EncodedTools = { config: undefined, nudge: undefined };
const NO_CALLS = "Do not call any tool.";

/** `isThinking` says whether the model thinks; `jsonSchema` is what a tool binds the answer to, where one must. */
export function encodeTools(
  prompt: Prompt,
  isThinking: boolean,
  jsonSchema: string | undefined,
  context: PromptContext,
): EncodedTools {
  const { toolChoice } = prompt;
  const mode = toolChoice?.mode ?? ToolChoice_Mode.MODE_UNSPECIFIED;
  const isNone = mode === ToolChoice_Mode.MODE_NONE;
  const tools = encodeAllowed(prompt, context);
  if (jsonSchema !== undefined) {
    const name = jsonToolName(prompt);
    const answer = toolText(
      name,
      "Answer with this tool: its arguments are the answer.",
      objectSchema(jsonSchema),
      undefined,
    );
    const isOnlyOne = tools.length === 0 || isNone;
    return forced(isOnlyOne ? [answer] : [...tools, answer], isOnlyOne ? name : undefined, isThinking, context);
  }
  // Calls in the conversation want their tools declared, even where none may be called any more.
  if (tools.length === 0) return without(calledTools(prompt.messages));
  if (isNone) return calledTools(prompt.messages).length === 0 ? NO_TOOLS : without(tools);
  if (prompt.parallelToolCalls === false) context.drop("parallel_tool_calls");
  if (mode === ToolChoice_Mode.MODE_REQUIRED)
    return forced(tools, toolChoice?.names.length === 1 ? toolChoice.names[0] : undefined, isThinking, context);
  return {
    config: configText(tools, mode === ToolChoice_Mode.MODE_AUTO ? '{"auto":{}}' : undefined),
    nudge: undefined,
  };
}

/** The wire has no word for no call: a model whose tools must be declared is told so. */
function without(tools: readonly string[]): EncodedTools {
  return tools.length === 0 ? NO_TOOLS : { config: configText(tools, undefined), nudge: NO_CALLS };
}

/** A call that must come: forced where the model allows it, else asked for in words. */
function forced(
  tools: readonly string[],
  only: string | undefined,
  isThinking: boolean,
  { rules, drop }: PromptContext,
): EncodedTools {
  if (rules.forcedTools && !isThinking) {
    const choice = only === undefined ? '{"any":{}}' : `{"tool":{"name":${JSON.stringify(only)}}}`;
    return { config: configText(tools, choice), nudge: undefined };
  }
  drop("tool_choice");
  const nudge = `You must answer by calling ${only === undefined ? "one of the tools" : `the tool '${only}'`}.`;
  return { config: configText(tools, '{"auto":{}}'), nudge };
}

function configText(tools: readonly string[], choice: string | undefined): string {
  return objectText([
    ["tools", arrayText(tools)],
    ["toolChoice", choice],
  ]);
}

function encodeAllowed(prompt: Prompt, context: PromptContext): string[] {
  const allowed = new Set(prompt.toolChoice?.names);
  return prompt.tools.flatMap((tool, place) => {
    const { kind } = tool;
    const name = kind?.$case === "function" || kind?.$case === "custom" ? kind.value.name : undefined;
    const isAllowed = allowed.size === 0 || (name !== undefined && allowed.has(name));
    const text = isAllowed ? encodeTool(tool, `tools[${place}]`, context) : undefined;
    return text === undefined ? [] : [text, ...cachePoint(tool.cacheMark, context)];
  });
}

function encodeTool({ kind }: Tool, path: string, context: PromptContext): string | undefined {
  switch (kind?.$case) {
    case "function": {
      const { name, description, parametersJson, strict } = kind.value;
      const schema = checkedJson(parametersJson, `${path}.parameters`);
      const object = objectSchema(schema, (member) => context.drop(`${path}.parameters.${member}`));
      return toolText(name, description, object, context.rules.schemas ? strict : undefined);
    }
    case "custom":
      return toolText(kind.value.name, freeTextDescription(kind.value), FREE_TEXT_SCHEMA, undefined);
    case "opaque":
      if (kind.value.wire === WIRE_NAME) return checkedJson(kind.value.json, path);
      context.drop(path);
      return undefined;
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

function toolText(name: string, description: string | undefined, schema: string, strict: boolean | undefined): string {
  const spec = objectText([
    ["name", jsonOf(name)],
    // An empty one is refused.
    ["description", description === "" ? undefined : jsonOf(description)],
    ["inputSchema", `{"json":${schema}}`],
    ["strict", strict === true ? "true" : undefined],
  ]);
  return `{"toolSpec":${spec}}`;
}

/** The tools that the conversation calls, as far as it tells of them. */
function calledTools(messages: readonly Message[]): string[] {
  const names = new Set<string>();
  for (const { parts } of messages)
    for (const { kind } of parts) if (kind?.$case === "toolCall") names.add(kind.value.name);
  return [...names].map((name) => toolText(name, undefined, NO_ARGUMENTS, undefined));
}
