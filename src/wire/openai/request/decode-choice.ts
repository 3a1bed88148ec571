/** The choice among tools, where some of them are left out. */
import { type JsonNode, readTree } from "../../json/node.js";
import type { Edits } from "../../json/splice.js";
import { arrayText, objectText } from "../../json/text.js";
import { memberText, namesGone, type Remainder } from "../../request/left-out-tools.js";

const OF_CALLS = ["tool_choice", "parallel_tool_calls", "max_tool_calls"];

/** What names a tool that is gone leaves the choice to the model; where no tool is left, nothing is said of calls. */
export function choiceEdits({ body, gone }: Remainder, hasTools: boolean): Edits {
  const { members } = readTree(body);
  if (!hasTools) return new Map(OF_CALLS.filter((key) => members.has(key)).map((key) => [key, undefined]));
  const choice = members.get("tool_choice");
  if (choice?.kind !== "object") return new Map();
  const kept = members.get("tools")?.items ?? [];
  if (memberText(choice, "type") !== "allowed_tools")
    return namesGone(choice, gone, kept) ? new Map([["tool_choice", undefined]]) : new Map();
  // Chats have the list in an object of its own.
  const below = choice.members.get("allowed_tools");
  const listed = (below ?? choice).members.get("tools")?.items ?? [];
  const left = listed.filter((tool) => !namesGone(tool, gone, kept));
  if (left.length === listed.length) return new Map();
  if (left.length === 0) return new Map([["tool_choice", undefined]]);
  const tools = arrayText(left.map((tool) => tool.raw()));
  const allowed = below === undefined ? withMember(choice, "tools", tools) : withMember(below, "tools", tools);
  return new Map([["tool_choice", below === undefined ? allowed : withMember(choice, "allowed_tools", allowed)]]);
}

/** The object with another value of one member. */
function withMember({ members }: JsonNode, name: string, text: string): string {
  return objectText([...members].map(([key, member]) => [key, key === name ? text : member.raw()] as const));
}
