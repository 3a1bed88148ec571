/** Marks of the cache in a client's own body, taken out for an upstream that refuses members that it does not know. */
import { JsonCursor } from "../../json/cursor.js";
import { readMembers, splice } from "../../json/splice.js";
import { mayHold } from "../../json/text.js";

/** Claude's word for a mark, which most clients use, and OpenAI's. */
const MARKS: readonly string[] = ["cache_control", "prompt_cache_breakpoint"];
/** Where marks stand within a message, and within a tool. */
export const IN_MESSAGES: readonly string[] = ["content"];
export const IN_TOOLS: readonly string[] = ["function", "custom"];

/** A list of messages or of tools without marks, in these members of theirs as well; undefined where it has none. */
export function withoutMarks(list: Buffer, within: readonly string[]): Buffer | undefined {
  return MARKS.some((mark) => mayHold(list, mark)) ? cleaned(list, within) : undefined;
}

/** The value without marks of its own or of its items; undefined where there are none. */
function cleaned(value: Buffer, within: readonly string[]): Buffer | undefined {
  const cursor = new JsonCursor(value);
  if (cursor.kind() === "object") return cleanedObject(value, within);
  if (cursor.kind() !== "array") return undefined;
  const pieces: Buffer[] = [];
  let kept = 0;
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    cursor.skip();
    const item = cleaned(value.subarray(start, cursor.at), within);
    if (item === undefined) continue;
    pieces.push(value.subarray(kept, start), item);
    kept = cursor.at;
  }
  return pieces.length === 0 ? undefined : Buffer.concat([...pieces, value.subarray(kept)]);
}

function cleanedObject(object: Buffer, within: readonly string[]): Buffer | undefined {
  const edits = new Map<string, Buffer | undefined>();
  const members = readMembers(new JsonCursor(object));
  for (const { key, valueStart, end } of members) {
    if (MARKS.includes(key)) edits.set(key, undefined);
    else if (within.includes(key)) {
      const inner = cleaned(object.subarray(valueStart, end), []);
      if (inner !== undefined) edits.set(key, inner);
    }
  }
  return edits.size === 0 ? undefined : splice(object, 0, members, edits);
}
