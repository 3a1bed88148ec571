/** Makes parts of a message. */
import type { CacheMark, Part } from "../api/index.js";

export function partOf(kind: NonNullable<Part["kind"]>, cacheMark?: CacheMark): Part {
  return { kind, cacheMark };
}

export function textPart(text: string, cacheMark?: CacheMark, citationsJson?: string): Part {
  return partOf({ $case: "text", value: { text, citationsJson } }, cacheMark);
}
