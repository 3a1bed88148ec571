/** Takes the member `"usage":null` out of a chunk for a client that did not ask for usage. */
import { eventBytes } from "../../events/writer.js";
import { JsonCursor } from "../../json/cursor.js";
import { readMembers, splice } from "../../json/splice.js";

const KEY = Buffer.from('"usage"');
const MEMBER = Buffer.from('"usage":null');
const COMMA = 0x2c;

/** The event's bytes without the member, as spans. `data` is the event's data, and in most events lies in `raw`. */
export function withoutNullUsage(data: Buffer, raw: Buffer): readonly Buffer[] {
  const offset = data.byteOffset - raw.byteOffset;
  const isInside = data.buffer === raw.buffer && offset >= 0 && offset + data.length <= raw.length;
  if (!isInside) return [eventBytes("", cutBySyntax(data).toString())];
  const at = data.indexOf(KEY);
  // Seen once, the key can only be the one that the chunk was found to have: no look at the rest is needed.
  const isPlain =
    at > 0 && data[at - 1] === COMMA && data.indexOf(KEY, at + 1) === -1 && data.indexOf(MEMBER, at) === at;
  if (isPlain) return [raw.subarray(0, offset + at - 1), raw.subarray(offset + at + MEMBER.length)];
  return [raw.subarray(0, offset), cutBySyntax(data), raw.subarray(offset + data.length)];
}

/** Any spelling and any place, at the cost of a pass. What the strict reader refuses stays as it is. */
function cutBySyntax(data: Buffer): Buffer {
  try {
    const cursor = new JsonCursor(data);
    const open = cursor.at;
    return splice(data, open, readMembers(cursor), new Map([["usage", undefined]]));
  } catch {
    return data;
  }
}
