/** What a choice says: its delta, or its whole message where no delta said anything before. */
import { type JsonObject, objectOf } from "../../json/value.js";

/**
 * The object that holds the new words of a choice; undefined where there are none. Some servers (MiniMax's) end a
 * stream with a chunk that holds the whole message. `hasSaid` is true where the candidate said something before: then
 * the message is a snapshot of words and calls that were read already, and only the delta counts.
 */
export function newWords(choice: JsonObject, hasSaid: boolean): JsonObject | undefined {
  const delta = objectOf(choice["delta"]);
  if (choice["message"] === undefined || hasSaid || (delta !== undefined && saysMore(delta))) return delta;
  return objectOf(choice["message"]) ?? delta;
}

/** True of a delta that says more than who speaks. */
export function saysMore(delta: JsonObject): boolean {
  for (const name in delta) if (name !== "role" && isSaid(delta[name])) return true;
  return false;
}

/** False of nothing: absent, null, an empty string, an empty list. */
export function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return false;
  return !Array.isArray(value) || value.length > 0;
}
