/** Names and ids that the wire does not take as they are: made to fit, always in the same way, and told back. */
import { createHash } from "node:crypto";
import type { Prompt } from "../../api/index.js";

const CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 12;
const LEGAL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SHORT_ID = /^[A-Za-z0-9]{9}$/;

/** An id of a call as the wire takes it. Two that differ stay two. */
export function fitting(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  return `${text.slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hashOf(text).slice(0, HASH_CHARACTERS)}`;
}

/** A tool's name as the wire takes it: letters, digits, `_` and `-`, at most 64. Two that differ stay two. */
export function fittingName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  const legal = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1);
  return `${legal}_${hashOf(name).slice(0, HASH_CHARACTERS)}`;
}

/** An id of a call as nine letters and digits. */
export function shortCallId(id: string): string {
  return SHORT_ID.test(id) ? id : hashOf(id).slice(0, 9);
}

/** The names of a prompt's tools that had to be changed, by what became of them. */
export function changedNames(prompt: Prompt): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { kind } of prompt.tools)
    if (kind?.$case === "function" || kind?.$case === "custom") {
      const { name } = kind.value;
      const fitted = fittingName(name);
      if (fitted !== name) names.set(fitted, name);
    }
  return names;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
