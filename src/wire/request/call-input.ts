/** The arguments of a call on wires that have them as an object. */
import { checkedJson } from "../json/text.js";

/** What models write for a tool that takes no arguments, beside an object without members. */
const NOTHING: ReadonlySet<string> = new Set(["", "null"]);

/** Arguments as the object that the wire has: what is none is told as text, so that nothing of it is lost. */
export function inputObject(text: string): string {
  const trimmed = text.trim();
  return NOTHING.has(trimmed) ? "{}" : (objectJson(trimmed) ?? `{"_raw":${JSON.stringify(text)}}`);
}

/** The text where it is a JSON object from its first character to its last. */
function objectJson(text: string): string | undefined {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  try {
    return checkedJson(text, "");
  } catch {
    // It only looks like an object.
    return undefined;
  }
}
