/** What a prompt holds that another wire than its own has no place for, by the names that its client gave it. */
import type { Prompt } from "../api/index.js";
import { objectOf, parsed } from "./json/value.js";

/** What the wire that a prompt is written for has a place for. */
export interface Places {
  readonly wire: string;
  /** True where parts may ask that the prompt be cached up to them. */
  readonly cacheMarks: boolean;
  /** True where a message may name its speaker. */
  readonly names: boolean;
}

/**
 * The names of what is left out. Thoughts are none of it: that only their own upstream takes them back is the rule.
 * Media's finer settings are none either.
 */
export function leftOut(prompt: Prompt, places: Places): string[] {
  const names: string[] = [];
  const { extra } = prompt;
  if (extra !== undefined && extra.wire !== places.wire) names.push(...membersOf(extra.json, ""));
  if (!places.cacheMarks && hasCacheMarks(prompt)) names.push("cache_control");
  prompt.messages.forEach(({ name, parts }, place) => {
    if (name !== undefined && !places.names) names.push(`messages[${place}].name`);
    parts.forEach(({ kind }, at) => {
      if (kind?.$case === "opaque" && kind.value.wire !== places.wire) names.push(`messages[${place}].content[${at}]`);
    });
  });
  return names;
}

/** The members by their paths; those that say nothing, such as `false`, are not missed. */
function membersOf(json: string, path: string): string[] {
  return Object.entries(objectOf(parsed(json)) ?? {}).flatMap(([key, value]) => {
    if (saysNothing(value)) return [];
    // Gemini keeps half of its parameters in an object of their own.
    if (key === "generationConfig") return membersOf(JSON.stringify(value), `${key}.`);
    return [path + key];
  });
}

/** True for a value that says no more than to leave the member out. */
export function saysNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const object = objectOf(value);
  if (object !== undefined) return Object.keys(object).length === 0;
  return value === null || value === false || value === 0 || value === "" || value === "auto";
}

function hasCacheMarks({ messages, tools }: Prompt): boolean {
  return (
    tools.some(({ cacheMark }) => cacheMark !== undefined) ||
    messages.some(({ parts }) => parts.some(({ cacheMark }) => cacheMark !== undefined))
  );
}
