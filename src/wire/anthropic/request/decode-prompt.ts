/** From a client's body to the typed prompt. Built only where another wire, or a rule, needs it. */
import {
  type Message,
  type OutputFormat,
  type Part,
  type Prompt,
  type Reasoning,
  Role,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
} from "../../../api/index.js";
import { type JsonNode, ObjectReader, readTree, wrongValue } from "../../json/node.js";
import { listOf, objectOf, parsed } from "../../json/value.js";
import { decodeCacheMark, decodeContent } from "./decode-parts.js";
import { WIRE_NAME } from "../facts.js";
import { messageOf } from "../../request/part.js";
import { promptOf } from "../../request/prompt.js";

/** Members that the gateway owns: they stand beside the prompt. */
const OWNED = ["model", "stream", "max_tokens"];

/** What a coding agent writes of itself: it differs from call to call, which would break the cache of a prompt. */
const ACCOUNTING = "x-anthropic-billing-header";

/** The wire names no schema, and others want a name. */
const SCHEMA_NAME = "response";

/** Throws PARAMETER_INVALID or PARAMETER_MISSING where the body cannot be read as a prompt. */
export function decodePrompt(body: Buffer): Prompt {
  const reader = new ObjectReader(readTree(body), "");
  for (const key of OWNED) reader.value(key);
  const messages = reader.list("messages") ?? reader.missing("messages");
  const choice = reader.object("tool_choice");
  const config = reader.object("output_config");
  const user = reader.object("metadata")?.text("user_id");
  const tier = reader.text("service_tier");
  const asked = {
    messages: [...decodeSystem(reader), ...messages.map(decodeMessage)],
    tools: (reader.list("tools") ?? []).map(decodeTool),
    toolChoice: choice === undefined ? undefined : decodeToolChoice(choice),
    parallelToolCalls: choice?.flag("disable_parallel_tool_use") === true ? false : undefined,
    outputFormat: decodeOutputFormat(config?.object("format") ?? reader.object("output_format")),
    reasoning: decodeReasoning(reader.object("thinking"), config?.text("effort")),
    temperature: reader.number("temperature"),
    topP: reader.number("top_p"),
    topK: reader.count("top_k"),
    stop: (reader.list("stop_sequences") ?? []).map((item) => item.text),
    user,
    serviceTier: tier === "standard_only" ? "default" : tier,
  };
  return promptOf(asked, WIRE_NAME, reader.rest());
}

function decodeSystem(reader: ObjectReader): Message[] {
  const parts = decodeContent(reader, "system").filter((part) => !isAccountingPart(part));
  return parts.length === 0 ? [] : [messageOf(Role.ROLE_SYSTEM, parts)];
}

function isAccountingPart({ kind }: Part): boolean {
  return kind?.$case === "text" && isAccounting(kind.value.text);
}

/** True of what a coding agent writes of itself. */
export function isAccounting(text: string): boolean {
  return text.startsWith(ACCOUNTING);
}

const ROLES: ReadonlyMap<string, Role> = new Map([
  ["user", Role.ROLE_USER],
  ["assistant", Role.ROLE_ASSISTANT],
  ["system", Role.ROLE_SYSTEM],
]);

function decodeMessage(node: JsonNode, place: number): Message {
  const reader = new ObjectReader(node, `messages[${place}]`);
  const role = ROLES.get(reader.requiredText("role"));
  if (role === undefined) throw wrongValue(reader.pathOf("role"), "it must be user, assistant or system");
  return messageOf(role, decodeContent(reader));
}

/** A tool of the client's has a schema; what has none is known to the wire alone. */
function decodeTool(node: JsonNode, place: number): Tool {
  const reader = new ObjectReader(node, `tools[${place}]`);
  const cacheMark = decodeCacheMark(reader);
  const type = reader.text("type") ?? "custom";
  if (type !== "custom") return { kind: { $case: "opaque", value: { wire: WIRE_NAME, json: node.raw() } }, cacheMark };
  const value = {
    name: reader.requiredText("name"),
    description: reader.text("description"),
    parametersJson: reader.raw("input_schema"),
    strict: reader.flag("strict"),
  };
  return { kind: { $case: "function", value }, cacheMark };
}

function decodeToolChoice(reader: ObjectReader): ToolChoice {
  const type = reader.requiredText("type");
  const choice = (mode: ToolChoice_Mode, names: string[] = []): ToolChoice => ({ mode, names, custom: false });
  switch (type) {
    case "auto":
      return choice(ToolChoice_Mode.MODE_AUTO);
    case "none":
      return choice(ToolChoice_Mode.MODE_NONE);
    case "any":
      return choice(ToolChoice_Mode.MODE_REQUIRED);
    case "tool":
      return choice(ToolChoice_Mode.MODE_REQUIRED, [reader.requiredText("name")]);
    default:
      throw wrongValue(reader.pathOf("type"), "it must be auto, any, tool or none");
  }
}

function decodeOutputFormat(reader: ObjectReader | undefined): OutputFormat | undefined {
  if (reader === undefined || reader.text("type") !== "json_schema") return undefined;
  const schemaJson = reader.raw("schema");
  const strict = isWhollyRequired(parsed(schemaJson ?? "{}")) || undefined;
  const value = { name: SCHEMA_NAME, description: undefined, schemaJson, strict };
  return { kind: { $case: "jsonSchema", value } };
}

/** True where each object of the schema requires all that it may hold: only so do all wires take it strictly. */
function isWhollyRequired(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isWhollyRequired);
  const schema = objectOf(value);
  if (schema === undefined) return true;
  const properties = objectOf(schema["properties"]);
  const isObject = properties !== undefined || schema["type"] === "object";
  if (isObject && schema["additionalProperties"] !== false) return false;
  const required = listOf(schema["required"]);
  if (!Object.keys(properties ?? {}).every((name) => required.includes(name))) return false;
  return Object.values(schema).every(isWhollyRequired);
}

/** Thinking by itself, by a budget, or not; how much of it is shown; and the effort, which counts for all of it. */
function decodeReasoning(thinking: ObjectReader | undefined, effort: string | undefined): Reasoning | undefined {
  const type = thinking?.text("type");
  if (type === "disabled" || type === "between_tools")
    return { effort: "none", budgetTokens: undefined, include: undefined };
  if (type !== "enabled" && type !== "adaptive")
    return effort === undefined ? undefined : { effort, budgetTokens: undefined, include: undefined };
  const budget = type === "enabled" ? thinking?.integer("budget_tokens") : undefined;
  return { effort, budgetTokens: budget, include: thinking?.text("display") !== "omitted" };
}
