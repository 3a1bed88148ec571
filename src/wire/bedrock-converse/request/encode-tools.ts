/** Tools and the choice among them, as the wire has them. */
import type { Prompt } from "../../../api/index.js";
import {
  calledTools,
  planTools,
  type ToolPlan,
  type ToolText,
  type ToolWriter,
} from "../../claude/request/encode-tools.js";
import { arrayText, jsonOf, objectText } from "../../json/text.js";
import { WIRE_NAME } from "../facts.js";
import { cachePoint, type PromptContext } from "./encode-parts.js";

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
  const write: ToolWriter = {
    wire: WIRE_NAME,
    hasSerialCalls: false,
    tool: (tool) => [toolText(tool), ...cachePoint(tool.cacheMark, context)],
    opaque: (json, cacheMark) => [json, ...cachePoint(cacheMark, context)],
  };
  const { tools, choice, nudge } = planTools(prompt, isThinking, jsonSchema, context, write);
  if (choice !== "none") return { config: configText(tools, choiceText(choice)), nudge };
  // The wire has no word for no call: a model whose tools must be declared, since it called some, is told so.
  if (calledTools(prompt.messages).size === 0) return NO_TOOLS;
  return { config: configText(tools, undefined), nudge: NO_CALLS };
}

function choiceText(choice: Exclude<ToolPlan["choice"], "none">): string | undefined {
  if (choice === undefined) return undefined;
  return typeof choice === "string" ? `{"${choice}":{}}` : `{"tool":{"name":${JSON.stringify(choice.tool)}}}`;
}

function configText(tools: readonly string[], choice: string | undefined): string {
  return objectText([
    ["tools", arrayText(tools)],
    ["toolChoice", choice],
  ]);
}

function toolText({ name, description, schema, strict }: ToolText): string {
  const spec = objectText([
    ["name", jsonOf(name)],
    // An empty one is refused.
    ["description", description === "" ? undefined : jsonOf(description)],
    ["inputSchema", `{"json":${schema}}`],
    ["strict", strict === true ? "true" : undefined],
  ]);
  return `{"toolSpec":${spec}}`;
}
