/** Calls of tools that the upstream ran, as the usages of OpenAI's wires tell them in many dialects. */
import type { CallCounter } from "../../answer/collector.js";
import { tokenCount } from "../../answer/token-count.js";
import { objectOf } from "../../json/value.js";

/** Members of a usage that count the calls of one tool: of Perplexity, and of xAI, whose live search bills sources. */
const COUNTS: ReadonlyMap<string, string> = new Map([
  ["num_search_queries", "web_search"],
  ["num_sources_used", "live_search"],
]);
/** Members that count the calls of several: of OpenRouter, of xAI by two names, and of Qwen by two. */
const MAPS = ["server_tool_use", "server_side_tool_usage_details", "server_side_tool_usage", "x_tools", "plugins"];
/** What they write around the name of a tool. */
const AROUND = /^server_side_tool_|_(requests|calls)$/g;
/** One tool by several names. */
const SEARCHES = ["web_search", "search", "browser_search"];
const PROGRAMS = ["code_interpreter", "code_execution"];
/** What costs nothing where it was not asked for: xAI tells its sources with every usage. */
const FREE = /^(live_search|datetime|web_fetch|view_.*)$/;

/** How often each tool was called, by the name that `askedTool` finds its price by. Empty: the usage tells no tools. */
export function toldCalls(value: unknown, to: Pick<CallCounter, "askedTool">): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  const usage = objectOf(value);
  const note = (tool: string, told: unknown): void => {
    const count = tokenCount(told);
    const asked = to.askedTool(...namesOf(tool));
    if (count !== undefined && (asked !== undefined || !FREE.test(tool))) calls.set(asked ?? tool, count);
  };
  for (const [member, tool] of COUNTS) note(tool, usage?.[member]);
  for (const member of MAPS) {
    const told = objectOf(usage?.[member]);
    for (const name in told)
      note(name.toLowerCase().replace(AROUND, ""), objectOf(told[name])?.["count"] ?? told[name]);
  }
  return calls;
}

/** The names that the price of a tool may have. */
export function namesOf(tool: string): readonly string[] {
  return [tool, ...([SEARCHES, PROGRAMS].find((names) => names.includes(tool)) ?? [])];
}
