/** From the messages of a body to typed messages. */
import { createHash } from "node:crypto";
import { type Message, type Part, Role, type ToolCall } from "../../../api/index.js";
import { type JsonNode, ObjectReader, wrongValue } from "../../json/node.js";
import { partOf } from "../../request/part.js";
import { decodeCacheMark } from "../../openai/request/decode-parts.js";
import { markedLast } from "../../request/cache-marks.js";
import { type Detail, continuesDetail, joined, partOfDetail, readDetail } from "../answer/proof.js";
import { decodeContent } from "./decode-parts.js";

/** Ids that were made for calls in the older form, which has none: the last one of each function. */
type MadeIds = Map<string, string>;

export function decodeMessages(nodes: readonly JsonNode[]): Message[] {
  const madeIds: MadeIds = new Map();
  return nodes.map((node, place) => decodeMessage(new ObjectReader(node, `messages[${place}]`), place, madeIds));
}

function decodeMessage(reader: ObjectReader, place: number, madeIds: MadeIds): Message {
  const role = reader.requiredText("role");
  const content = decodeContent(reader);
  switch (role) {
    case "system":
      return finished(reader, Role.ROLE_SYSTEM, content);
    case "developer":
      return finished(reader, Role.ROLE_DEVELOPER, content);
    case "user":
      return finished(reader, Role.ROLE_USER, content);
    case "assistant":
      return finished(reader, Role.ROLE_ASSISTANT, decodeAssistant(reader, content, place, madeIds));
    case "tool": {
      const callId = reader.requiredText("tool_call_id");
      return finished(reader, Role.ROLE_TOOL, [toolResult(callId, content)]);
    }
    case "function": {
      const name = reader.requiredText("name");
      return finished(reader, Role.ROLE_TOOL, [toolResult(madeIds.get(name) ?? name, content)]);
    }
    default:
      throw wrongValue(reader.pathOf("role"), "it must be system, developer, user, assistant, tool or function");
  }
}

function finished(reader: ObjectReader, role: Role, parts: Part[]): Message {
  const marked = markedLast(parts, decodeCacheMark(reader));
  return { role, parts: marked, name: reader.text("name"), extraJson: reader.rest() };
}

function toolResult(callId: string, parts: Part[]): Part {
  return partOf({ $case: "toolResult", value: { callId, parts, isError: false } });
}

/** What a model said earlier: its thinking, its content, its refusal, its calls, its sound. */
function decodeAssistant(reader: ObjectReader, content: Part[], place: number, madeIds: MadeIds): Part[] {
  const parts = [...decodeThinking(reader), ...content];
  const refusal = reader.text("refusal");
  if (refusal !== undefined && refusal !== "") parts.push(partOf({ $case: "refusal", value: { text: refusal } }));
  for (const [index, node] of (reader.list("tool_calls") ?? []).entries())
    parts.push(decodeToolCall(new ObjectReader(node, `${reader.pathOf("tool_calls")}[${index}]`)));
  const call = reader.object("function_call");
  if (call !== undefined) {
    const name = call.requiredText("name");
    const id = `call_${createHash("sha256").update(`${place} ${name}`).digest("hex").slice(0, 24)}`;
    madeIds.set(name, id);
    const value: ToolCall = { id, name, arguments: call.text("arguments") ?? "", custom: false, signature: undefined };
    parts.push(partOf({ $case: "toolCall", value }));
  }
  const audioId = reader.object("audio")?.requiredText("id");
  if (audioId !== undefined)
    parts.push(
      partOf({ $case: "audio", value: { source: { $case: "fileId", value: audioId }, transcript: undefined } }),
    );
  return parts;
}

/** Thinking has three spellings; the one that tells most is read. */
function decodeThinking(reader: ObjectReader): Part[] {
  const entries: Detail[] = [];
  for (const [index, node] of (reader.list("reasoning_details") ?? []).entries())
    addDetail(entries, decodeDetail(new ObjectReader(node, `${reader.pathOf("reasoning_details")}[${index}]`)));
  const detailed = entries.flatMap((entry) => partOfDetail(entry) ?? []);
  const content = reader.text("reasoning_content");
  const text = content ?? reader.text("reasoning") ?? "";
  if (detailed.length > 0) return detailed;
  return text === "" ? [] : [partOf({ $case: "thinking", value: { text, signature: undefined } })];
}

/** Adds an entry, or a piece of one: clients of OpenRouter's send back what they got. */
function addDetail(entries: Detail[], next: Detail): void {
  const last = entries.at(-1);
  if (last !== undefined && continuesDetail(last, next)) entries[entries.length - 1] = joined(last, next);
  else entries.push(next);
}

function decodeDetail(reader: ObjectReader): Detail {
  const type = reader.text("type");
  const isSealed = type === "reasoning.encrypted";
  return readDetail({
    type,
    text: isSealed ? undefined : reader.text(type === "reasoning.summary" ? "summary" : "text"),
    data: isSealed ? reader.requiredText("data") : undefined,
    signature: isSealed ? undefined : reader.text("signature"),
    id: reader.peek("id")?.text,
    format: reader.peek("format")?.text,
    index: Number(reader.peek("index")?.raw()),
  });
}

function decodeToolCall(reader: ObjectReader): Part {
  const type = reader.text("type") ?? "function";
  if (type !== "function" && type !== "custom")
    throw wrongValue(reader.pathOf("type"), "it must be function or custom");
  const called = reader.requiredObject(type);
  const field = type === "custom" ? "input" : "arguments";
  // Some servers speak of the arguments as an object, and their clients send it back so.
  const node = called.peek(field);
  const value: ToolCall = {
    id: reader.requiredText("id"),
    name: called.requiredText("name"),
    arguments: node?.kind === "object" ? node.raw() : (called.text(field) ?? ""),
    custom: type === "custom",
    signature: reader.object("extra_content")?.object("google")?.text("thought_signature"),
  };
  return partOf({ $case: "toolCall", value });
}
