/** From a body to the typed prompt. Built only where another wire, or a rule, needs it. */
import {
  type Message,
  type OutputFormat,
  type Prompt,
  type Reasoning,
  Role,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
} from "../../../api/index.js";
import { type JsonNode, ObjectReader, readTree, wrongValue } from "../../json/node.js";
import { decodeMetadata } from "../../openai/request/decode-maps.js";
import {
  choiceOfWord,
  customTool,
  functionTool,
  OBJECT_FORMAT,
  opaqueTool,
  schemaFormat,
  TEXT_FORMAT,
} from "../../openai/request/decode-tools.js";
import { textPart, messageOf } from "../../request/part.js";
import { AskedTools, innerTools, toolLists } from "./decode-tools.js";
import { decodeItems } from "./decode-messages.js";
import { WIRE_NAME } from "../facts.js";
import { promptOf } from "../../request/prompt.js";

/** Members that the gateway owns, or that mean nothing beside what it does. */
const OWNED = ["model", "stream", "stream_options", "max_output_tokens", "store", "background"];

const LOGPROBS = "message.output_text.logprobs";

/** Throws PARAMETER_INVALID or PARAMETER_MISSING where the body cannot be read as a prompt. */
export function decodePrompt(body: Buffer): Prompt {
  const root = readTree(body);
  const reader = new ObjectReader(root, "");
  for (const key of OWNED) reader.value(key);
  const asked = AskedTools.of(root);
  const user = reader.text("user");
  const text = reader.object("text");
  const include = (reader.list("include") ?? []).map((node) => node.text);
  const fields = {
    messages: decodeMessages(reader, asked),
    tools: decodeTools(root, asked),
    toolChoice: decodeToolChoice(reader, asked),
    parallelToolCalls: reader.flag("parallel_tool_calls"),
    outputFormat: decodeOutputFormat(text),
    reasoning: decodeReasoning(reader.object("reasoning")),
    temperature: reader.number("temperature"),
    topP: reader.number("top_p"),
    logprobs: include.includes(LOGPROBS) ? true : undefined,
    topLogprobs: reader.count("top_logprobs"),
    // Of two names for one thing the second stays among the fields without a home.
    user: user ?? reader.text("safety_identifier"),
    metadata: decodeMetadata(reader),
    serviceTier: reader.text("service_tier"),
    verbosity: text?.text("verbosity"),
    promptCacheKey: reader.text("prompt_cache_key"),
  };
  reader.value("tools");
  return promptOf(fields, WIRE_NAME, reader.rest());
}

function decodeMessages(reader: ObjectReader, asked: AskedTools): Message[] {
  const messages: Message[] = [];
  const say = (role: Role, text: string): void => {
    messages.push(messageOf(role, text === "" ? [] : [textPart(text)]));
  };
  const instructions = reader.text("instructions") ?? "";
  if (instructions !== "") say(Role.ROLE_SYSTEM, instructions);
  const input = reader.value("input");
  if (input === undefined) return reader.missing("input");
  if (input.kind === "string") say(Role.ROLE_USER, input.text);
  else messages.push(...decodeItems(reader.list("input") ?? [], asked));
  return messages;
}

/** The tools, those of a namespace each by itself. Of one that is told again the last telling holds. */
function decodeTools(root: JsonNode, asked: AskedTools): Tool[] {
  const tools = toolLists(root).flatMap((nodes) =>
    nodes.flatMap((node, place) => {
      const path = `tools[${place}]`;
      const isNamespace = node.members.get("type")?.text === "namespace";
      if (!isNamespace) return [decodeTool(node, path, undefined, asked)];
      const namespace = node.members.get("name")?.text ?? "";
      return innerTools(node).map((inner, at) => decodeTool(inner, `${path}.tools[${at}]`, namespace, asked));
    }),
  );
  const byName = new Map(tools.map((tool, place) => [nameOfTool(tool) ?? place, tool]));
  return [...byName.values()];
}

function nameOfTool({ kind }: Tool): string | undefined {
  return kind?.$case === "function" || kind?.$case === "custom" ? kind.value.name : undefined;
}

function decodeTool(node: JsonNode, path: string, namespace: string | undefined, asked: AskedTools): Tool {
  const reader = new ObjectReader(node, path);
  const type = reader.requiredText("type");
  if (type !== "function" && type !== "custom") return opaqueTool(WIRE_NAME, node);
  const name = asked.flat(namespace, reader.requiredText("name"));
  if (type === "custom") return customTool(reader, name);
  // Not strict is what every other wire takes for granted.
  return functionTool(reader, name, reader.flag("strict") === true ? true : undefined);
}

function decodeToolChoice(reader: ObjectReader, asked: AskedTools): ToolChoice | undefined {
  const node = reader.peek("tool_choice");
  if (node === undefined) return undefined;
  if (node.kind === "string") return choiceOfWord(reader, "tool_choice");
  const choice = new ObjectReader(node, "tool_choice");
  const type = choice.requiredText("type");
  if (type === "function" || type === "custom") {
    reader.value("tool_choice");
    return { mode: ToolChoice_Mode.MODE_REQUIRED, names: [nameIn(choice, asked)], custom: type === "custom" };
  }
  // A hosted tool, which only the wire itself has, stays among the fields without a home.
  if (type !== "allowed_tools") return undefined;
  reader.value("tool_choice");
  const names: string[] = [];
  let custom = false;
  for (const [place, item] of (choice.list("tools") ?? []).entries()) {
    const tool = new ObjectReader(item, `tool_choice.tools[${place}]`);
    const kind = tool.text("type") ?? "function";
    if (kind !== "function" && kind !== "custom") continue;
    custom ||= kind === "custom";
    names.push(nameIn(tool, asked));
  }
  const isRequired = choice.text("mode") === "required";
  return { mode: isRequired ? ToolChoice_Mode.MODE_REQUIRED : ToolChoice_Mode.MODE_AUTO, names, custom };
}

function nameIn(reader: ObjectReader, asked: AskedTools): string {
  return asked.flat(reader.text("namespace"), reader.requiredText("name"));
}

function decodeOutputFormat(text: ObjectReader | undefined): OutputFormat | undefined {
  const format = text?.object("format");
  if (format === undefined) return undefined;
  switch (format.requiredText("type")) {
    case "text":
      return TEXT_FORMAT;
    case "json_object":
      return OBJECT_FORMAT;
    case "json_schema":
      return schemaFormat(format);
    default:
      throw wrongValue("text.format.type", "it must be text, json_object or json_schema");
  }
}

/** A summary that is asked for is thinking that is wanted. */
function decodeReasoning(reader: ObjectReader | undefined): Reasoning | undefined {
  if (reader === undefined) return undefined;
  const effort = reader.text("effort");
  const summary = reader.text("summary") ?? reader.text("generate_summary");
  if (effort === undefined && summary === undefined) return undefined;
  return { effort, budgetTokens: undefined, include: summary === undefined ? undefined : true };
}
