/** From a client's body to the typed prompt. Built only where another wire, or a rule, needs it. */
import {
  type Message,
  type OutputFormat,
  type Part,
  type Prompt,
  type Reasoning,
  Role,
  type Thinking,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
} from "../../../api/index.js";
import { readTree, wrongValue } from "../../json/node.js";
import { partOf, textPart, messageOf } from "../../request/part.js";
import { jsonSchemaOf } from "./decode-schema.js";
import { decodePart, OpenCalls } from "./decode-parts.js";
import { ProtoReader } from "./decode-object.js";
import { WIRE_NAME } from "../facts.js";
import { googlesOwn } from "../answer/proof.js";
import { promptOf } from "../../request/prompt.js";

/** What the answer's schema is called on wires where it needs a name, which this one does not give. */
const SCHEMA_NAME = "response";

/** Throws PARAMETER_INVALID or PARAMETER_MISSING where the body cannot be read as a prompt. */
export function decodePrompt(body: Buffer): Prompt {
  const reader = new ProtoReader(readTree(body), "");
  reader.value("model");
  const messages = decodeMessages(reader);
  const config = reader.object("generationConfig");
  config?.value("maxOutputTokens");
  const calling = reader.object("toolConfig")?.object("functionCallingConfig");
  const tools = decodeTools(reader, calling?.text("mode") === "VALIDATED");
  const asked = {
    messages,
    tools,
    toolChoice: decodeToolChoice(calling),
    outputFormat: config === undefined ? undefined : decodeOutputFormat(config),
    reasoning: decodeReasoning(config?.object("thinkingConfig")),
    temperature: config?.number("temperature"),
    topP: config?.number("topP"),
    topK: wholeOf(config?.number("topK")),
    presencePenalty: config?.number("presencePenalty"),
    frequencyPenalty: config?.number("frequencyPenalty"),
    seed: config?.integer("seed"),
    stop: config?.texts("stopSequences") ?? [],
    candidateCount: config?.whole("candidateCount"),
    logprobs: config?.flag("responseLogprobs"),
    topLogprobs: config?.whole("logprobs"),
    serviceTier: reader.text("serviceTier")?.toLowerCase(),
  };
  return promptOf(asked, WIRE_NAME, restOf(reader, config));
}

/** The fields without a typed home, those of the configuration within it. */
function restOf(reader: ProtoReader, config: ProtoReader | undefined): string | undefined {
  const top = reader.rest();
  const inner = config?.rest();
  if (inner === undefined) return top;
  const member = `"generationConfig":${inner}`;
  return top === undefined ? `{${member}}` : `${top.slice(0, -1)},${member}}`;
}

function decodeMessages(reader: ProtoReader): Message[] {
  const calls = new OpenCalls();
  const messages: Message[] = [];
  const system = reader.value("systemInstruction");
  if (system?.kind === "string") messages.push(messageOf(Role.ROLE_SYSTEM, [textPart(system.text)]));
  else if (system !== undefined) {
    const parts = decodeParts(new ProtoReader(system, "systemInstruction"), calls);
    if (parts.length > 0) messages.push(messageOf(Role.ROLE_SYSTEM, parts));
  }
  const contents = reader.objects("contents");
  if (contents.length === 0) reader.missing("contents");
  for (const content of contents) {
    const parts = decodeParts(content, calls);
    const role = decodeRole(content, parts);
    const last = messages.at(-1);
    // Google's own client sends back each chunk of a stream as a content, so neighbours are one answer in pieces.
    if (role === Role.ROLE_ASSISTANT && last?.role === role) goOn(last.parts, parts);
    else messages.push(messageOf(role, goOn([], parts)));
  }
  return messages;
}

/** Adds what goes on: text to text where one content ends and the next begins, and to a thought what is still of it. */
function goOn(parts: Part[], more: readonly Part[]): Part[] {
  for (const [place, part] of more.entries()) {
    const last = parts.at(-1)?.kind;
    const next = part.kind;
    const isBoundary = place === 0;
    if (isBoundary && last?.$case === "text" && next?.$case === "text")
      parts[parts.length - 1] = textPart(last.value.text + next.value.text);
    else if (
      last?.$case === "thinking" &&
      next?.$case === "thinking" &&
      isOfThought(last.value, next.value, isBoundary)
    ) {
      const value = { text: last.value.text + next.value.text, signature: next.value.signature };
      parts[parts.length - 1] = partOf({ $case: "thinking", value });
    } else parts.push(part);
  }
  return parts;
}

/**
 * A thought goes on until its proof, wherever the client put its pieces: as contents of their own, or as parts of one
 * content. A proof of Google's that stands alone is not of the thought before it.
 */
function isOfThought(last: Thinking, next: Thinking, isBoundary: boolean): boolean {
  if (last.signature !== undefined) return false;
  const isGoogles = next.signature !== undefined && googlesOwn(next.signature) !== undefined;
  return isBoundary || next.text !== "" || !isGoogles;
}

function decodeRole(content: ProtoReader, parts: readonly Part[]): Role {
  const role = content.text("role") ?? "user";
  if (role === "model") return Role.ROLE_ASSISTANT;
  if (role === "system") return Role.ROLE_SYSTEM;
  if (role !== "user" && role !== "function" && role !== "tool" && role !== "")
    throw wrongValue(content.pathOf("role"), "it must be user or model");
  const isResults = parts.length > 0 && parts.every((part) => part.kind?.$case === "toolResult");
  return isResults ? Role.ROLE_TOOL : Role.ROLE_USER;
}

function decodeParts(content: ProtoReader, calls: OpenCalls): Part[] {
  const node = content.value("parts");
  const path = content.pathOf("parts");
  if (node?.kind === "object") return decodePart(node, path, calls);
  return (content.list("parts") ?? []).flatMap((part, place) => decodePart(part, `${path}[${place}]`, calls));
}

/** The functions, each a tool; whatever else is offered only this wire understands. */
function decodeTools(reader: ProtoReader, isStrict: boolean): Tool[] {
  const strict = isStrict ? true : undefined;
  return reader.objects("tools").flatMap((tool) => {
    const functions = tool.objects("functionDeclarations").map((declaration): Tool => {
      const schema = declaration.raw("parametersJsonSchema");
      const own = declaration.raw("parameters");
      const value = {
        name: declaration.requiredText("name"),
        description: declaration.text("description"),
        parametersJson: schema ?? (own === undefined ? undefined : jsonSchemaOf(own)),
        strict,
      };
      return { kind: { $case: "function", value }, cacheMark: undefined };
    });
    const others = tool.rest();
    if (others !== undefined)
      functions.push({ kind: { $case: "opaque", value: { wire: WIRE_NAME, json: others } }, cacheMark: undefined });
    return functions;
  });
}

const MODES: ReadonlyMap<string, ToolChoice_Mode> = new Map([
  ["MODE_UNSPECIFIED", ToolChoice_Mode.MODE_AUTO],
  ["AUTO", ToolChoice_Mode.MODE_AUTO],
  ["VALIDATED", ToolChoice_Mode.MODE_AUTO],
  ["NONE", ToolChoice_Mode.MODE_NONE],
  ["ANY", ToolChoice_Mode.MODE_REQUIRED],
]);

function decodeToolChoice(calling: ProtoReader | undefined): ToolChoice | undefined {
  if (calling === undefined) return undefined;
  const name = calling.text("mode")?.toUpperCase() ?? "MODE_UNSPECIFIED";
  const names = calling.texts("allowedFunctionNames");
  if (name === "MODE_UNSPECIFIED" && names.length === 0) return undefined;
  const mode = MODES.get(name);
  if (mode === undefined) throw wrongValue(calling.pathOf("mode"), "it must be AUTO, ANY, NONE or VALIDATED");
  // Whoever may call nothing has nothing to choose among.
  return { mode, names: mode === ToolChoice_Mode.MODE_NONE ? [] : names, custom: false };
}

function decodeOutputFormat(config: ProtoReader): OutputFormat | undefined {
  const mediaType = config.text("responseMimeType");
  const schema = config.raw("responseJsonSchema");
  const own = config.raw("responseSchema");
  const schemaJson = schema ?? (own === undefined ? undefined : jsonSchemaOf(own));
  if (schemaJson !== undefined) {
    const value = { name: SCHEMA_NAME, description: undefined, schemaJson, strict: undefined };
    return { kind: { $case: "jsonSchema", value } };
  }
  if (mediaType === "application/json") return { kind: { $case: "jsonObject", value: {} } };
  return mediaType === "text/plain" ? { kind: { $case: "text", value: {} } } : undefined;
}

function decodeReasoning(config: ProtoReader | undefined): Reasoning | undefined {
  if (config === undefined) return undefined;
  const level = config.text("thinkingLevel")?.toLowerCase();
  // A budget of -1 leaves it to the model, and one of 0 turns thinking off.
  const budget = config.number("thinkingBudget");
  const effort = level === "thinking_level_unspecified" ? undefined : (level ?? (budget === 0 ? "none" : undefined));
  const budgetTokens = budget !== undefined && budget > 0 ? BigInt(Math.floor(budget)) : undefined;
  return { effort, budgetTokens, include: config.flag("includeThoughts") };
}

/** The wire has this one as a floating-point number. */
function wholeOf(value: number | undefined): number | undefined {
  return value === undefined || value < 0 || value > 0xffffffff ? undefined : Math.floor(value);
}
