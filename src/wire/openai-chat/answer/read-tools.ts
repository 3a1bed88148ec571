/** Tools that the upstream ran, as a message shows them. The wire itself has no place for them. */
import { type JsonObject, textOf } from "../../json/value.js";

/** What a tool that Groq executed is called; undefined of what is part of a search. */
export function executedTool(executed: JsonObject): string | undefined {
  const name = `${textOf(executed["type"])} ${textOf(executed["name"])}`.toLowerCase();
  if (/open|find|visit/.test(name)) return undefined;
  if (name.includes("search")) return name.includes("browser") ? "browser_search" : "web_search";
  if (/python|code/.test(name)) return "code_interpreter";
  return name.includes("mcp") ? "mcp" : undefined;
}

/** True of a function of Moonshot's own, which it charges as it is called. */
export function isBuiltIn(name: string): boolean {
  return name.startsWith("$");
}
