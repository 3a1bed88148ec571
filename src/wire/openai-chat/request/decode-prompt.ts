/** From a client's body to the typed prompt. Built only where another wire, or a rule, needs it. */
import { type OutputFormat, type Prompt, type Tool, type ToolChoice, ToolChoice_Mode } from "../../../api/index.js";
import { ObjectReader, readTree } from "../../json/node.js";
import { decodeLogitBias, decodeMetadata } from "../../openai/request/decode-maps.js";
import {
  choiceOfWord,
  customTool,
  functionTool,
  OBJECT_FORMAT,
  opaqueTool,
  schemaFormat,
  TEXT_FORMAT,
} from "../../openai/request/decode-tools.js";
import { decodeCacheMark } from "../../openai/request/decode-parts.js";
import { markedAtEnd } from "../../request/cache-marks.js";
import { decodeMessages } from "./decode-messages.js";
import { WIRE_NAME } from "../facts.js";
import { promptOf } from "../../request/prompt.js";

/** Members that the gateway owns: they stand beside the prompt. */
const OWNED = ["model", "stream", "stream_options", "max_completion_tokens", "max_tokens"];

/** Throws PARAMETER_INVALID or PARAMETER_MISSING where the body cannot be read as a prompt. */
export function decodePrompt(body: Buffer): Prompt {
  const reader = new ObjectReader(readTree(body), "");
  for (const key of OWNED) reader.value(key);
  const messages = reader.list("messages") ?? reader.missing("messages");
  const effort = reader.text("reasoning_effort");
  const user = reader.text("user");
  const asked = {
    // Of a whole request it means as far as it goes.
    messages: markedAtEnd(decodeMessages(messages), decodeCacheMark(reader)),
    tools: decodeTools(reader),
    toolChoice: decodeToolChoice(reader),
    // The older form has a place for one call.
    parallelToolCalls: hasFunctionsAlone(reader) ? false : reader.flag("parallel_tool_calls"),
    outputFormat: decodeOutputFormat(reader),
    reasoning: effort === undefined ? undefined : { effort, budgetTokens: undefined, include: undefined },
    temperature: reader.number("temperature"),
    topP: reader.number("top_p"),
    topK: reader.count("top_k"),
    presencePenalty: reader.number("presence_penalty"),
    frequencyPenalty: reader.number("frequency_penalty"),
    seed: reader.integer("seed"),
    stop: decodeStop(reader),
    candidateCount: reader.count("n"),
    logprobs: reader.flag("logprobs"),
    topLogprobs: reader.count("top_logprobs"),
    logitBias: decodeLogitBias(reader),
    // Of two names for one thing the second stays among the fields without a home.
    user: user ?? reader.text("safety_identifier"),
    metadata: decodeMetadata(reader),
    serviceTier: reader.text("service_tier"),
    verbosity: reader.text("verbosity"),
    promptCacheKey: reader.text("prompt_cache_key"),
  };
  return promptOf(asked, WIRE_NAME, reader.rest());
}

function decodeTools(reader: ObjectReader): Tool[] {
  const tools = (reader.list("tools") ?? []).map((node, place): Tool => {
    const tool = new ObjectReader(node, `tools[${place}]`);
    const type = tool.text("type") ?? "function";
    if (type === "function") return decodeFunction(tool.requiredObject("function"), tool);
    if (type !== "custom") return opaqueTool(WIRE_NAME, node);
    const custom = tool.requiredObject("custom");
    return customTool(custom, custom.requiredText("name"), tool);
  });
  // The older name of tools; a body that has both means both.
  for (const [place, node] of (reader.list("functions") ?? []).entries())
    tools.push(decodeFunction(new ObjectReader(node, `functions[${place}]`)));
  return tools;
}

function hasFunctionsAlone(reader: ObjectReader): boolean {
  return (reader.list("functions") ?? []).length > 0 && (reader.list("tools") ?? []).length === 0;
}

function decodeFunction(reader: ObjectReader, holder = reader): Tool {
  return functionTool(reader, reader.requiredText("name"), reader.flag("strict"), holder);
}

/** As Mistral's clients say it, and as GitHub's do of models with Gemini's names: calls by the schema, or text. */
const OTHER_WORDS: ReadonlyMap<string, ToolChoice_Mode> = new Map([
  ["any", ToolChoice_Mode.MODE_REQUIRED],
  ["validated", ToolChoice_Mode.MODE_AUTO],
]);

function decodeToolChoice(reader: ObjectReader): ToolChoice | undefined {
  for (const key of ["tool_choice", "function_call"]) {
    const node = reader.peek(key);
    if (node === undefined) continue;
    if (node.kind === "string") return choiceOfWord(reader, key, OTHER_WORDS);
    const choice = decodeNamedChoice(new ObjectReader(node, key), key === "function_call");
    if (choice === undefined) continue;
    reader.value(key);
    return choice;
  }
  return undefined;
}

/** Undefined for a choice that only the wire itself understands, such as one of a hosted tool. */
function decodeNamedChoice(reader: ObjectReader, isFunctionCall: boolean): ToolChoice | undefined {
  const mode = ToolChoice_Mode.MODE_REQUIRED;
  if (isFunctionCall) return { mode, names: [reader.requiredText("name")], custom: false };
  const type = reader.text("type") ?? "function";
  if (type === "function" || type === "custom")
    return { mode, names: [reader.requiredObject(type).requiredText("name")], custom: type === "custom" };
  if (type !== "allowed_tools") return undefined;
  const allowed = reader.requiredObject("allowed_tools");
  const names: string[] = [];
  let custom = false;
  for (const [place, node] of (allowed.list("tools") ?? []).entries()) {
    const tool = new ObjectReader(node, `${allowed.pathOf("tools")}[${place}]`);
    const kind = tool.text("type") ?? "function";
    custom ||= kind === "custom";
    const named = tool.object(kind);
    if (named !== undefined) names.push(named.requiredText("name"));
  }
  return { mode: allowed.text("mode") === "required" ? mode : ToolChoice_Mode.MODE_AUTO, names, custom };
}

/** The name of a schema that came without one. */
const BESIDE_NAME = "answer";

function decodeOutputFormat(reader: ObjectReader): OutputFormat | undefined {
  const node = reader.peek("response_format");
  if (node === undefined) return undefined;
  const format = new ObjectReader(node, "response_format");
  const type = format.requiredText("type");
  if (type !== "text" && type !== "json_object" && type !== "json_schema") return undefined;
  reader.value("response_format");
  if (type === "text") return TEXT_FORMAT;
  if (type === "json_object") {
    // Some servers bind the object to a schema that stands beside the type.
    const schemaJson = format.peek("schema")?.kind === "object" ? format.raw("schema") : undefined;
    if (schemaJson === undefined) return OBJECT_FORMAT;
    const value = { name: BESIDE_NAME, description: undefined, schemaJson, strict: undefined };
    return { kind: { $case: "jsonSchema", value } };
  }
  return schemaFormat(format.requiredObject("json_schema"));
}

function decodeStop(reader: ObjectReader): string[] {
  const node = reader.peek("stop");
  if (node?.kind === "string") return [reader.requiredText("stop")];
  return (reader.list("stop") ?? []).map((item) => item.text);
}
