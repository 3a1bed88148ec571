/** Names and ids that are longer than the wire takes: shortened, always in the same way, and told back as they were. */
import { createHash } from "node:crypto";
import type { Prompt } from "../../api/index.js";

const CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 12;

/** The text as the wire takes it. Two that differ stay two. */
export function fitting(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARACTERS);
  return `${text.slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hash}`;
}

/** The names of a prompt's tools that were shortened, by their short forms. */
export function shortenedNames(prompt: Prompt): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { kind } of prompt.tools)
    if (kind?.$case === "function" && kind.value.name.length > CHARACTERS_MAX)
      names.set(fitting(kind.value.name), kind.value.name);
  return names;
}
