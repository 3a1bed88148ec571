/** Tools and the choice among them, and what a model is told in words where it cannot be made to. */
import { type Message, type Prompt, type Tool, ToolChoice_Mode } from "../../api/index.js";
import { FREE_TEXT_SCHEMA, freeTextDescription } from "../free-text.js";
import { boundedTool, stemOf } from "../hosted-tools.js";
import { checkedJson, jsonOf, objectText } from "../json/text.js";
import { objectOf, parsed, textOf } from "../json/value.js";
import { jsonToolName } from "../claude/answer-tool.js";
import { NO_ARGUMENTS, objectSchema } from "../object-schema.js";
import { encodeCacheMark, type PromptContext } from "./part-encode.js";
import { BOUNDED } from "./members.js";
import { WIRE_NAME } from "./schema.js";

export interface EncodedTools {
  readonly tools: readonly string[];
  readonly choice: string | undefined;
  /** Added to the instructions. */
  readonly nudge: string | undefined;
}

/** `isThinking` says whether the model thinks; `jsonSchema` is what a tool binds the answer to, where one must. */
export function encodeTools(
  prompt: Prompt,
  isThinking: boolean,
  jsonSchema: string | undefined,
  context: PromptContext,
): EncodedTools {
  const choice = prompt.toolChoice;
  const allowed = new Set(choice?.names);
  const tools = prompt.tools.flatMap((tool, place) => {
    const name = nameOf(tool);
    const isAllowed = allowed.size === 0 || (name !== undefined && allowed.has(name));
    return isAllowed ? encodeTool(tool, `tools[${place}]`, context) : [];
  });
  let mode = choice?.mode ?? ToolChoice_Mode.MODE_UNSPECIFIED;
  if (jsonSchema !== undefined) {
    const isOnlyOne = tools.length === 0 || mode === ToolChoice_Mode.MODE_NONE;
    const description = "Answer with this tool: its arguments are the answer.";
    const answer = { name: jsonToolName(prompt), description, input_schema: NO_ARGUMENTS };
    const told = objectText([
      ["name", jsonOf(answer.name)],
      ["description", jsonOf(description)],
      ["input_schema", objectSchema(jsonSchema)],
    ]);
    const all = isOnlyOne ? [told] : [...tools, told];
    return forced(all, isOnlyOne ? answer.name : undefined, prompt, isThinking, context);
  }
  if (tools.length === 0) return withoutTools(prompt.messages);
  if (mode === ToolChoice_Mode.MODE_REQUIRED) {
    const only = choice?.names.length === 1 ? choice.names[0] : undefined;
    return forced(tools, only, prompt, isThinking, context);
  }
  if (mode === ToolChoice_Mode.MODE_NONE) return { tools, choice: '{"type":"none"}', nudge: undefined };
  const isSerial = prompt.parallelToolCalls === false;
  const isAuto = mode === ToolChoice_Mode.MODE_AUTO || isSerial;
  return { tools, choice: isAuto ? choiceText("auto", undefined, prompt) : undefined, nudge: undefined };
}

/** A call that must come: forced where the model allows it, else asked for in words. */
function forced(
  tools: readonly string[],
  only: string | undefined,
  prompt: Prompt,
  isThinking: boolean,
  { rules, drop }: PromptContext,
): EncodedTools {
  if (rules.forcedTools && !isThinking)
    return { tools, choice: choiceText(only === undefined ? "any" : "tool", only, prompt), nudge: undefined };
  drop("tool_choice");
  const nudge = `You must answer by calling ${only === undefined ? "one of the tools" : `the tool '${only}'`}.`;
  return { tools, choice: choiceText("auto", undefined, prompt), nudge };
}

function choiceText(type: string, name: string | undefined, prompt: Prompt): string {
  return objectText([
    ["type", `"${type}"`],
    ["name", jsonOf(name)],
    ["disable_parallel_tool_use", prompt.parallelToolCalls === false ? "true" : undefined],
  ]);
}

/** Calls in the conversation want their tools declared, even where none may be called any more. */
function withoutTools(messages: readonly Message[]): EncodedTools {
  const names = new Set<string>();
  for (const { parts } of messages)
    for (const { kind } of parts) if (kind?.$case === "toolCall") names.add(kind.value.name);
  if (names.size === 0) return { tools: [], choice: undefined, nudge: undefined };
  const tools = [...names].map((name) => `{"name":${JSON.stringify(name)},"input_schema":${NO_ARGUMENTS}}`);
  return { tools, choice: '{"type":"none"}', nudge: undefined };
}

function nameOf({ kind }: Tool): string | undefined {
  return kind?.$case === "function" || kind?.$case === "custom" ? kind.value.name : undefined;
}

function encodeTool({ kind, cacheMark }: Tool, path: string, context: PromptContext): string[] {
  const mark = encodeCacheMark(cacheMark);
  switch (kind?.$case) {
    case "function": {
      const { name, description, parametersJson, strict } = kind.value;
      const schema = checkedJson(parametersJson, `${path}.parameters`);
      return [
        objectText([
          ["name", jsonOf(name)],
          ["description", jsonOf(description)],
          ["input_schema", objectSchema(schema, (member) => context.drop(`${path}.parameters.${member}`))],
          ["strict", context.rules.schemas ? jsonOf(strict) : undefined],
          mark,
        ]),
      ];
    }
    case "custom": {
      return [
        objectText([
          ["name", jsonOf(kind.value.name)],
          ["description", jsonOf(freeTextDescription(kind.value))],
          ["input_schema", FREE_TEXT_SCHEMA],
          mark,
        ]),
      ];
    }
    case "opaque":
      if (kind.value.wire === WIRE_NAME) return [bounded(checkedJson(kind.value.json, path) ?? "{}", context)];
      context.drop(path);
      return [];
    case undefined:
      return [];
    default:
      return kind satisfies never;
  }
}

/** The upstream's own tool with a bound of its calls, where its definition takes one: the hold covers no more. */
function bounded(json: string, { boundsTools }: PromptContext): string {
  const type = textOf(objectOf(parsed(json))?.["type"]);
  return boundsTools === true && BOUNDED.has(stemOf(type)) ? boundedTool(json) : json;
}
