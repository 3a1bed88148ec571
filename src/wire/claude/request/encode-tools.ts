/** Tools and the choice among them on Claude's wires, and what a model is told in words where it cannot be made to. */
import { type CacheMark, type Message, type Prompt, type Tool, ToolChoice_Mode } from "../../../api/index.js";
import { checkedJson } from "../../json/text.js";
import { leftOutName } from "../../request/hosted-tools.js";
import { callHint } from "../../request/hints.js";
import { FREE_TEXT_SCHEMA, freeTextDescription } from "../../request/free-text.js";
import { NO_ARGUMENTS, objectSchema } from "../../request/object-schema.js";
import { jsonToolName } from "./encode-answer-tool.js";
import type { ThinkingContext } from "./encode-thinking.js";

/** A tool with a schema. */
export interface ToolText {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON. */
  readonly schema: string;
  readonly strict?: boolean | undefined;
  readonly cacheMark?: CacheMark | undefined;
}

/** How a wire writes tools. Each may need several elements of the list, or none. */
export interface ToolWriter {
  readonly wire: string;
  /** False where the wire cannot ask for one call at a time. */
  readonly hasSerialCalls: boolean;
  tool(tool: ToolText): readonly string[];
  /** A tool of the upstream's own, which came in the wire's JSON. */
  opaque(json: string, cacheMark: CacheMark | undefined): readonly string[];
}

export interface ToolPlan {
  readonly tools: readonly string[];
  /** Undefined where the model is left to its own choice. */
  readonly choice: "auto" | "any" | "none" | { readonly tool: string } | undefined;
  /** Added to the instructions. */
  readonly nudge?: string;
}

/** `isThinking` says whether the model thinks; `jsonSchema` is what a tool binds the answer to, where one must. */
export function planTools(
  prompt: Prompt,
  isThinking: boolean,
  jsonSchema: string | undefined,
  context: ThinkingContext,
  write: ToolWriter,
): ToolPlan {
  const { names = [], mode = ToolChoice_Mode.MODE_UNSPECIFIED } = prompt.toolChoice ?? {};
  const isNone = mode === ToolChoice_Mode.MODE_NONE;
  const tools = encodeAllowed(prompt, context, write);
  if (jsonSchema !== undefined) {
    const name = jsonToolName(prompt);
    const description = "Answer with this tool: its arguments are the answer.";
    const answer = write.tool({ name, description, schema: objectSchema(jsonSchema) });
    const isOnlyOne = tools.length === 0 || isNone;
    return forced(isOnlyOne ? answer : [...tools, ...answer], isOnlyOne ? name : undefined, isThinking, context);
  }
  // Calls in the conversation want their tools declared, even where none may be called any more.
  if (tools.length === 0) {
    const called = [...calledTools(prompt.messages)];
    return { tools: called.flatMap((name) => write.tool({ name, schema: NO_ARGUMENTS })), choice: "none" };
  }
  if (isNone) return { tools, choice: "none" };
  if (!write.hasSerialCalls && prompt.parallelToolCalls === false) context.drop("parallel_tool_calls");
  if (mode === ToolChoice_Mode.MODE_REQUIRED)
    return forced(tools, names.length === 1 ? names[0] : undefined, isThinking, context);
  return { tools, choice: mode === ToolChoice_Mode.MODE_AUTO ? "auto" : undefined };
}

/** The names of the tools that the conversation calls. */
export function calledTools(messages: readonly Message[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { parts } of messages)
    for (const { kind } of parts) if (kind?.$case === "toolCall") names.add(kind.value.name);
  return names;
}

/** A call that must come: forced where the model allows it, else asked for in words. */
function forced(
  tools: readonly string[],
  only: string | undefined,
  isThinking: boolean,
  { rules, drop }: ThinkingContext,
): ToolPlan {
  if (rules.forcedTools && !isThinking) return { tools, choice: only === undefined ? "any" : { tool: only } };
  drop("tool_choice");
  return { tools, choice: "auto", nudge: callHint(only) };
}

function encodeAllowed({ tools, toolChoice }: Prompt, context: ThinkingContext, write: ToolWriter): readonly string[] {
  const allowed = new Set(toolChoice?.names);
  return tools.flatMap((tool, place) => {
    const { kind } = tool;
    const name = kind?.$case === "function" || kind?.$case === "custom" ? kind.value.name : undefined;
    const isAllowed = allowed.size === 0 || (name !== undefined && allowed.has(name));
    return isAllowed ? encodeTool(tool, `tools[${place}]`, context, write) : [];
  });
}

function encodeTool(
  { kind, cacheMark }: Tool,
  path: string,
  context: ThinkingContext,
  write: ToolWriter,
): readonly string[] {
  switch (kind?.$case) {
    case "function": {
      const { name, description, parametersJson, strict } = kind.value;
      const checked = checkedJson(parametersJson, `${path}.parameters`);
      const schema = objectSchema(checked, (member) => context.drop(`${path}.parameters.${member}`));
      return write.tool({ name, description, schema, strict: context.rules.schemas ? strict : undefined, cacheMark });
    }
    case "custom": {
      const description = freeTextDescription(kind.value);
      return write.tool({ name: kind.value.name, description, schema: FREE_TEXT_SCHEMA, cacheMark });
    }
    case "opaque":
      if (kind.value.wire === write.wire) return write.opaque(checkedJson(kind.value.json, path) ?? "{}", cacheMark);
      context.drop(leftOutName(kind.value.json));
      return [];
    case undefined:
      return [];
    default:
      return kind satisfies never;
  }
}
