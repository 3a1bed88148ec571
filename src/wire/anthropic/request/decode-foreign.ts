/** What a request asks for that no other wire can say, and without which its answer would be another. */
import { type Part, type Prompt, Role } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { objectOf, parsed, textOf } from "../../json/value.js";

/** Throws PARAMETER_UNSUPPORTED. What else has no place on another wire is left out there. */
export function checkForeign(prompt: Prompt, outputTokensMax: number | undefined, model: string): void {
  const refuse = (param: string, problem: string): never => {
    throw unsupported(param, problem, { model });
  };
  if (outputTokensMax === 0) refuse("max_tokens", "it cannot only warm its cache");
  const extra = objectOf(parsed(prompt.extra?.json ?? "{}"));
  if (saysSomething(extra?.["container"])) refuse("container", "it is not Anthropic's, which alone has containers");
  const tools = new Set(prompt.tools.map(({ kind }) => (kind?.$case === "function" ? kind.value.name : undefined)));
  for (const name of prompt.toolChoice?.names ?? [])
    if (!tools.has(name)) refuse("tool_choice.name", `it has no tool '${name.slice(0, 64)}'`);
  let place = 0;
  for (const { role, parts } of prompt.messages) {
    const path = role === Role.ROLE_SYSTEM && place === 0 ? "system" : `messages[${place++}]`;
    const held = heldFile(parts);
    if (held !== undefined) refuse(`${path}.content`, "it takes media by their bytes or address, not by a file's id");
  }
}

function saysSomething(container: unknown): boolean {
  return textOf(container) !== "" || Object.keys(objectOf(container) ?? {}).length > 0;
}

function heldFile(parts: readonly Part[]): string | undefined {
  for (const { kind } of parts) {
    if (kind?.$case === "toolResult") {
      const held = heldFile(kind.value.parts);
      if (held !== undefined) return held;
    }
    if ((kind?.$case === "image" || kind?.$case === "file") && kind.value.source?.$case === "fileId")
      return kind.value.source.value;
  }
  return undefined;
}
