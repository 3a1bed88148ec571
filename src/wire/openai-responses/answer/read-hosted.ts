/** Items that are calls of tools that the upstream runs. */
import type { CallCounter } from "../../answer/collector.js";
import { type JsonObject, objectOf, textOf } from "../../json/value.js";

/** By the names that their prices have. */
const HOSTED_CALLS: ReadonlyMap<string, string> = new Map([
  ["web_search_call", "web_search"],
  ["file_search_call", "file_search"],
  ["code_interpreter_call", "code_interpreter"],
  ["image_generation_call", "image_generation"],
  ["mcp_call", "mcp"],
]);
const SHELL_CALL = "shell_call";
const SHELL = "shell_container";

/** The tools whose calls are items. */
export const HOSTED_TOOLS: readonly string[] = [...HOSTED_CALLS.values(), SHELL];

/** The tool that an item of this type is a call of; undefined where the client runs it, or where it is none. */
export function hostedTool(type: string, call: JsonObject, to: Pick<CallCounter, "askedTool">): string | undefined {
  if (type !== SHELL_CALL) return HOSTED_CALLS.get(type);
  // A shell runs where its environment is.
  const isLocal = textOf(objectOf(call["environment"])?.["type"]) === "local";
  return isLocal ? undefined : to.askedTool(SHELL);
}

/** Opening a page that a search found is told as a call of its own, and is part of that search. */
export function isCharged(call: JsonObject): boolean {
  const action = textOf(objectOf(call["action"])?.["type"]);
  return action === "" || action === "search";
}
