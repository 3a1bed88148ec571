/** From the typed prompt to a body for an upstream of this wire. */
import {
  type OutputFormat,
  type Prompt,
  type Reasoning,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
} from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { encodeExtra } from "../../request/extra.js";
import { CALLS_MAX_DEFAULT } from "../../request/hosted-tools.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { leftOut } from "../../request/dropped-parameters.js";
import { encodeMap, encodeParameters, encodeUser } from "../../openai/request/encode-fields.js";
import { effortOf, nearestEffort } from "../../openai/request/encode-efforts.js";
import type { ModelFacts, OwnedFields } from "../../wire.js";
import { encodeItems } from "./encode-messages.js";
import { WIRE_NAME } from "../facts.js";

/**
 * Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. `isForeign` tells that the prompt
 * came in another wire; `dropped` takes the names of what has no place and changes no meaning.
 */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, isForeign: boolean, dropped: string[]): Buffer {
  const { model } = owned;
  const drop = (param: string): void => void dropped.push(param);
  checkPlaces(prompt, owned, dropped);
  const reasoning = encodeReasoning(prompt.reasoning, { facts: owned.facts ?? {}, isForeign, drop });
  const tools = encodeTools(prompt.tools, { isForeign, drop });
  // A choice among no tools is refused, and so is what is said of their calls.
  const hasLostTools = tools === undefined && isForeign;
  if (isForeign) dropped.push(...leftOut(prompt, { wire: WIRE_NAME, cacheMarks: true, names: false }));
  const members: MemberTexts = [
    ["model", jsonOf(model)],
    ["input", arrayText(encodeItems(prompt.messages, { model, isForeign }))],
    ["tools", tools],
    // The hold covers no more calls of tools that OpenAI runs.
    ["max_tool_calls", owned.toolOrders !== undefined ? String(CALLS_MAX_DEFAULT) : undefined],
    ["tool_choice", hasLostTools ? undefined : encodeToolChoice(prompt.toolChoice)],
    ["parallel_tool_calls", hasLostTools ? undefined : jsonOf(prompt.parallelToolCalls)],
    ["text", encodeText(prompt)],
    ["reasoning", reasoning],
    ["include", encodeInclude(prompt, isForeign && reasoning === undefined)],
    ["temperature", jsonOf(prompt.temperature)],
    ["top_p", jsonOf(prompt.topP)],
    ["top_logprobs", jsonOf(prompt.topLogprobs)],
    ["safety_identifier", encodeUser(prompt.user)],
    ["metadata", encodeMap(prompt.metadata)],
    ["service_tier", jsonOf(prompt.serviceTier)],
    ["prompt_cache_key", jsonOf(prompt.promptCacheKey)],
    ["max_output_tokens", jsonOf(owned.outputTokensMax)],
    ["stream", owned.stream ? "true" : undefined],
    // Nobody will ask for it again.
    ["store", "false"],
  ];
  return Buffer.from(objectText([...members, ...encodeExtra(prompt, WIRE_NAME, members, OWNED)]));
}

/** Fields that the wire has no place for. */
function checkPlaces(prompt: Prompt, { model, candidateCount }: OwnedFields, dropped: string[]): void {
  const refuse = (param: string, problem: string): never => {
    throw unsupported(param, problem, { model });
  };
  if (prompt.stop.length > 0) refuse("stop", "it cannot end at a string");
  if (candidateCount > 1) refuse("n", "it gives one answer");
  const { topK, presencePenalty, frequencyPenalty, seed, logitBias } = prompt;
  const absent = { top_k: topK, presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty, seed };
  for (const [param, value] of Object.entries(absent)) if (value !== undefined) dropped.push(param);
  if (Object.keys(logitBias).length > 0) dropped.push("logit_bias");
}

/** Members that the gateway owns and no one else may write. */
const OWNED = ["model", "input", "instructions", "max_output_tokens", "stream", "store", "background"];

/** What writing the tools depends on. */
interface ToolContext {
  readonly isForeign: boolean;
  /** Takes the name of what was left out. */
  readonly drop: (param: string) => void;
}

function encodeTools(tools: readonly Tool[], context: ToolContext): string | undefined {
  const texts = tools.flatMap((tool, place) => encodeTool(tool, `tools[${place}]`, context));
  return texts.length === 0 ? undefined : arrayText(texts);
}

function encodeTool({ kind }: Tool, path: string, context: ToolContext): string[] {
  switch (kind?.$case) {
    case "function": {
      const { name, description, parametersJson, strict } = kind.value;
      const tool = objectText([
        ["type", '"function"'],
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["parameters", encodeParameters(parametersJson, `${path}.parameters`, context.isForeign, context.drop)],
        // Left out, it would mean true.
        ["strict", strict === true ? "true" : "false"],
      ]);
      return [tool];
    }
    case "custom": {
      const { name, description, formatJson } = kind.value;
      const tool = objectText([
        ["type", '"custom"'],
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["format", checkedJson(formatJson, `${path}.format`)],
      ]);
      return [tool];
    }
    case "opaque":
      // A tool that only another wire understands cannot be offered here.
      if (kind.value.wire === WIRE_NAME) return [checkedJson(kind.value.json, path) ?? "{}"];
      context.drop(path);
      return [];
    case undefined:
      return [];
    default:
      return kind satisfies never;
  }
}

function encodeToolChoice(choice: ToolChoice | undefined): string | undefined {
  if (choice === undefined || choice.mode === ToolChoice_Mode.MODE_UNSPECIFIED) return undefined;
  if (choice.mode === ToolChoice_Mode.MODE_NONE) return '"none"';
  const isRequired = choice.mode === ToolChoice_Mode.MODE_REQUIRED;
  if (choice.names.length === 0) return isRequired ? '"required"' : '"auto"';
  const type = choice.custom ? "custom" : "function";
  const tools = choice.names.map((name) => `{"type":"${type}","name":${JSON.stringify(name)}}`);
  if (isRequired && tools.length === 1) return tools[0];
  return `{"type":"allowed_tools","mode":"${isRequired ? "required" : "auto"}","tools":${arrayText(tools)}}`;
}

function encodeText({ outputFormat, verbosity }: Prompt): string | undefined {
  const format = encodeFormat(outputFormat);
  if (format === undefined && verbosity === undefined) return undefined;
  return objectText([
    ["format", format],
    ["verbosity", jsonOf(verbosity)],
  ]);
}

function encodeFormat(format: OutputFormat | undefined): string | undefined {
  const kind = format?.kind;
  switch (kind?.$case) {
    case "text":
      return '{"type":"text"}';
    case "jsonObject":
      return '{"type":"json_object"}';
    case "jsonSchema": {
      const { name, description, schemaJson, strict } = kind.value;
      return objectText([
        ["type", '"json_schema"'],
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["schema", checkedJson(schemaJson, "output_format.schema")],
        ["strict", jsonOf(strict)],
      ]);
    }
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** A caller of the typed form names the model's own effort; one of another wire, the effort that it means. */
function encodeReasoning(
  reasoning: Reasoning | undefined,
  { facts, isForeign, drop }: ToolContext & { readonly facts: ModelFacts },
): string | undefined {
  if (reasoning === undefined) return undefined;
  const { include } = reasoning;
  const wanted = isForeign ? effortOf(reasoning) : reasoning.effort;
  const effort = isForeign && wanted !== undefined ? nearestEffort(wanted, facts.efforts ?? []) : wanted;
  if (effort === undefined && wanted !== undefined) drop("thinking");
  // A model of which nobody knows that it thinks refuses to be told how.
  if (effort === undefined && (include !== true || isForeign)) return undefined;
  return objectText([
    ["effort", jsonOf(effort)],
    ["summary", include === true ? '"auto"' : undefined],
  ]);
}

/** Thoughts must come with what they are known by, since nobody keeps them. */
function encodeInclude({ logprobs, reasoning }: Prompt, isUnthinking: boolean): string | undefined {
  const include: string[] = [];
  if (reasoning !== undefined && reasoning.effort !== "none" && !isUnthinking)
    include.push("reasoning.encrypted_content");
  if (logprobs === true) include.push("message.output_text.logprobs");
  return include.length === 0 ? undefined : JSON.stringify(include);
}
