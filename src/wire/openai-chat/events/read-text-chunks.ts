/** The chunks that say a text and nothing else: nearly all of a stream. */
import { type JsonObject, objectOf } from "../../json/value.js";
import type { TextEvents } from "../../events/repeated.js";

/** What each chunk of an answer says of it; `obfuscation` hides how long the text is. */
const HEAD_NAMES: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "service_tier",
  "system_fingerprint",
  "provider",
  "obfuscation",
]);
const CHOICE_NAMES: ReadonlySet<string> = new Set(["index", "delta"]);
const DELTA_NAMES: ReadonlySet<string> = new Set(["role", "content"]);

export const TEXT_CHUNKS: TextEvents = {
  text: ["choices", 0, "delta", "content"],
  meaningless: [["obfuscation"]],
  saysTextAlone,
};

/** Every member that is not known must be null, so that nothing is passed over that a reader looks at. */
function saysTextAlone(chunk: JsonObject): boolean {
  const choices = chunk["choices"];
  if (!Array.isArray(choices) || choices.length !== 1 || !isNullBut(chunk, HEAD_NAMES)) return false;
  const choice = objectOf(choices[0]);
  if (choice === undefined || typeof choice["index"] !== "number" || !isNullBut(choice, CHOICE_NAMES)) return false;
  const delta = objectOf(choice["delta"]);
  if (delta === undefined || !isNullBut(delta, DELTA_NAMES)) return false;
  // A chunk that says something behind one that says nothing is another kind of chunk: readers note that it spoke.
  if (typeof delta["content"] !== "string" || delta["content"] === "") return false;
  return choice["finish_reason"] === null;
}

function isNullBut(object: JsonObject, known: ReadonlySet<string>): boolean {
  for (const name in object) if (object[name] !== null && !known.has(name)) return false;
  return true;
}
