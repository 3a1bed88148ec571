/** What a tool returned, as the object that the wire has for it. */
import { JsonCursor } from "../../json/cursor.js";

/** Google takes these for the whole of what a tool returned, or for its failure. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(["output", "error"]);
/** A member that names a part beside the response; one that names none is refused with 400. */
const REFERENCE = "$ref";
/** A number of so many digits is one that a double holds. */
const EXACT_DIGITS = 15;

/**
 * The text itself, where it is an object that Google reads as it stands; undefined where it must stay text. The wire's
 * object is a `google.protobuf.Struct`: its numbers are doubles, and a member stands in it once.
 */
export function structText(text: string): string | undefined {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  try {
    const cursor = new JsonCursor(Buffer.from(text));
    const isStruct = passObject(cursor, true);
    if (isStruct) cursor.finish();
    return isStruct ? text : undefined;
  } catch {
    // It only looks like an object.
    return undefined;
  }
}

/** Passes the value that comes next; false, and somewhere within it, where a Struct cannot hold it. */
function passValue(cursor: JsonCursor): boolean {
  switch (cursor.kind()) {
    case "object":
      return passObject(cursor, false);
    case "array":
      cursor.enterArray();
      while (cursor.nextItem()) if (!passValue(cursor)) return false;
      return true;
    case "number": {
      const start = cursor.at;
      cursor.skip();
      return isExact(cursor.bytes.toString("latin1", start, cursor.at));
    }
    default:
      cursor.skip();
      return true;
  }
}

function passObject(cursor: JsonCursor, isTop: boolean): boolean {
  const keys = new Set<string>();
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === REFERENCE || keys.has(key) || (isTop && OWN_MEMBERS.has(key))) return false;
    keys.add(key);
    if (!passValue(cursor)) return false;
  }
  return true;
}

function isExact(number: string): boolean {
  const digits = number
    .replace(/[eE].*$/, "")
    .replaceAll(/[-.]/g, "")
    .replace(/^0+/, "");
  const value = Number(number);
  // What is too small for a double becomes nothing.
  return digits.length <= EXACT_DIGITS && Number.isFinite(value) && (value !== 0 || digits === "");
}
