/** The arguments of a call on wires that have them as an object. */
import { checkedJson } from "./json/text.js";

/** Arguments as the object that the wire has: what is none is told as text, so that nothing of it is lost. */
export function inputObject(text: string): string {
  if (text.trim() === "") return "{}";
  if (/^\s*\{[^]*\}\s*$/.test(text)) {
    try {
      return checkedJson(text.trim(), "") ?? "{}";
    } catch {
      // It only looks like an object.
    }
  }
  return `{"_raw":${JSON.stringify(text)}}`;
}
