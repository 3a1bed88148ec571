/** Tools and the choice among them, as the wire has them. */
import type { Prompt } from "../../../api/index.js";
import { planTools, type ToolPlan, type ToolText, type ToolWriter } from "../../claude/request/encode-tools.js";
import { jsonOf, objectText } from "../../json/text.js";
import { objectOf, parsed, textOf } from "../../json/value.js";
import { boundedTool, stemOf } from "../../request/hosted-tools.js";
import { WIRE_NAME } from "../facts.js";
import { encodeCacheMark, type PromptContext } from "./encode-parts.js";
import { BOUNDED } from "./members.js";

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
  const write: ToolWriter = {
    wire: WIRE_NAME,
    hasSerialCalls: true,
    tool: (tool) => [toolText(tool)],
    opaque: (json) => [bounded(json, context)],
  };
  const { tools, choice, nudge } = planTools(prompt, isThinking, jsonSchema, context, write);
  return { tools, choice: tools.length === 0 ? undefined : choiceText(choice, prompt), nudge };
}

/** One call at a time is asked for within a choice alone. */
function choiceText(choice: ToolPlan["choice"], { parallelToolCalls }: Prompt): string | undefined {
  if (choice === "none") return '{"type":"none"}';
  const isSerial = parallelToolCalls === false;
  if (choice === undefined && !isSerial) return undefined;
  const name = typeof choice === "object" ? choice.tool : undefined;
  return objectText([
    ["type", jsonOf(typeof choice === "object" ? "tool" : (choice ?? "auto"))],
    ["name", jsonOf(name)],
    ["disable_parallel_tool_use", isSerial ? "true" : undefined],
  ]);
}

function toolText({ name, description, schema, strict, cacheMark }: ToolText): string {
  return objectText([
    ["name", jsonOf(name)],
    ["description", jsonOf(description)],
    ["input_schema", schema],
    ["strict", jsonOf(strict)],
    encodeCacheMark(cacheMark),
  ]);
}

/** The upstream's own tool with a bound of its calls, where its definition takes one: the hold covers no more. */
function bounded(json: string, { boundsTools }: PromptContext): string {
  const type = textOf(objectOf(parsed(json))?.["type"]);
  return boundsTools === true && BOUNDED.has(stemOf(type)) ? boundedTool(json) : json;
}
