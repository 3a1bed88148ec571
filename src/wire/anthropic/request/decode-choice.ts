/** The choice among tools, where some of them are left out. */
import { readTree } from "../../json/node.js";
import type { Edits } from "../../json/splice.js";
import { objectText } from "../../json/text.js";
import { memberText, type Remainder } from "../../request/left-out-tools.js";

/** What names a tool that is gone leaves the choice to the model; where no tool is left, nothing is said of it. */
export function choiceEdits({ body, gone }: Remainder, hasTools: boolean): Edits {
  const root = readTree(body);
  const choice = root.members.get("tool_choice");
  if (choice?.kind !== "object") return new Map();
  if (!hasTools) return new Map([["tool_choice", undefined]]);
  const name = memberText(choice, "name");
  const bearsName = (tool: { readonly members: typeof choice.members }): boolean =>
    tool.members.get("name")?.text === name;
  const kept = root.members.get("tools")?.items ?? [];
  if (memberText(choice, "type") !== "tool" || !gone.some(bearsName) || kept.some(bearsName)) return new Map();
  const serial = choice.members.get("disable_parallel_tool_use")?.raw();
  const auto = objectText([
    ["type", '"auto"'],
    ["disable_parallel_tool_use", serial],
  ]);
  return new Map([["tool_choice", auto]]);
}
