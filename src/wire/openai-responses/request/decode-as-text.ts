/** Items that only the wire itself has, told in words, so that what they say reaches other upstreams too. */
import { type Message, type Part, Role } from "../../../api/index.js";
import { type JsonObject, objectOf, parsed, textOf } from "../../json/value.js";
import { textPart } from "../../request/part.js";
import { READABLE_CHARACTERS_MAX, readableText } from "../../request/readable-text.js";
import { WIRE_NAME } from "../facts.js";

/** What was asked of a tool, by the member that says it. */
const CALLS: Readonly<Record<string, string>> = {
  apply_patch_call: "operation",
  code_interpreter_call: "code",
  computer_call: "action",
  file_search_call: "queries",
  image_generation_call: "revised_prompt",
  local_shell_call: "action",
  mcp_approval_request: "arguments",
  mcp_call: "arguments",
  program: "code",
  shell_call: "action",
  tool_search_call: "arguments",
  web_search_call: "action",
};
/** What came of it, by the member that says it. */
const RESULTS: Readonly<Record<string, string>> = {
  apply_patch_call_output: "output",
  code_interpreter_call: "outputs",
  computer_call_output: "output",
  file_search_call: "results",
  local_shell_call_output: "output",
  mcp_approval_response: "approve",
  mcp_call: "output",
  program_output: "result",
  shell_call_output: "output",
};
/** What says nothing that a model must read: lists of tools, which stand among the tools. */
const SILENT: ReadonlySet<string> = new Set(["mcp_list_tools", "tool_search_output"]);
/** Members of a result that a person would read. */
const READABLE = ["title", "url", "filename", "text", "stdout", "stderr", "logs"];

/** True for an item whose meaning reaches an upstream of another wire. */
export function isTellable(type: string): boolean {
  return Object.hasOwn(CALLS, type) || Object.hasOwn(RESULTS, type) || SILENT.has(type);
}

/** The conversation with such items in words, and without what says nothing. */
export function withToldItems(messages: readonly Message[]): Message[] {
  const told: Message[] = [];
  for (const message of messages) {
    if (!message.parts.some(isItem)) {
      told.push(message);
      continue;
    }
    const parts = message.parts.flatMap((part) => (isItem(part) ? toldParts(part) : [part]));
    if (parts.length === 0) continue;
    // What a tool returned that no other wire has a call for is told by the user.
    const isBare = message.role === Role.ROLE_TOOL && !parts.some(({ kind }) => kind?.$case === "toolResult");
    told.push({ ...message, role: isBare ? Role.ROLE_USER : message.role, parts });
  }
  return told;
}

function isItem({ kind }: Part): boolean {
  return kind?.$case === "opaque" && kind.value.wire === WIRE_NAME && isTellable(typeOf(kind.value.json));
}

function typeOf(json: string): string {
  return textOf(objectOf(parsed(json))?.["type"]);
}

function toldParts({ kind }: Part): Part[] {
  const item = kind?.$case === "opaque" ? (objectOf(parsed(kind.value.json)) ?? {}) : {};
  const type = textOf(item["type"]);
  const asked = Object.hasOwn(CALLS, type) ? CALLS[type] : undefined;
  const made = RESULTS[type];
  const texts: string[] = [];
  if (asked !== undefined) texts.push(`[The tool ${nameOf(item, type)} was used: ${shown(item[asked] ?? {})}]`);
  const result = made === undefined ? undefined : (item[made] ?? undefined);
  if (result !== undefined) texts.push(`[It returned: ${readable(result)}]`);
  return texts.map((text) => textPart(text));
}

function nameOf(item: JsonObject, type: string): string {
  return textOf(item["name"]) || type.replace(/_(call|request)$/, "");
}

function shown(value: unknown): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, READABLE_CHARACTERS_MAX);
}

function readable(value: unknown): string {
  const isPlain = typeof value === "string" || typeof value === "boolean";
  return isPlain ? String(value).slice(0, READABLE_CHARACTERS_MAX) : readableText(value, READABLE);
}
