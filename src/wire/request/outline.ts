/**
 * What of a long body tells how an answer to it is read and written: its tools and its settings. What was said is left
 * out, which is what makes it long.
 */
import { JsonCursor } from "../json/cursor.js";
import { type Member, readMembers, splice } from "../json/splice.js";
import { mayHold } from "../json/text.js";
import { listOf, objectOf } from "../json/value.js";
import { isLongBody, LONG_BODY_BYTES } from "../json/weight.js";
import type { SourceBody } from "../wire.js";

/** What stands for what was said, by the member that holds it on some wire. */
const SAID: ReadonlyMap<string, string> = new Map([
  ["messages", '[{"role":"user","content":""}]'],
  ["input", '""'],
  ["contents", '[{"role":"user","parts":[{"text":""}]}]'],
  ["prompt", '""'],
  ["system", '""'],
  ["content", '""'],
  ["requests", '[{"content":""}]'],
  ["query", '"-"'],
  ["documents", '[""]'],
]);
/** Items of a conversation that bring tools. */
const TOOL_ITEM = "additional_tools";

/**
 * Outlines that another thread made, by the memory of their bodies: to look through a long body on the event loop takes
 * all other requests' time.
 */
const made = new WeakMap<SharedArrayBuffer, Buffer>();

const DEPTH_MAX = 4;
const TEXT_CHARACTERS_MAX = 256;

/** Keeps the outline of a body for as long as the memory of the body lives. */
export function keepOutline({ buffer }: Uint8Array, outline: Buffer): void {
  if (buffer instanceof SharedArrayBuffer) made.set(buffer, outline);
}

/** The same source where its body is short; else one that is short and reads alike, apart from what was said. */
export function outlined(source: SourceBody): SourceBody {
  if (!isLongBody(source.body)) return source;
  const { body } = source;
  const known = body.buffer instanceof SharedArrayBuffer ? made.get(body.buffer) : undefined;
  if (known !== undefined) return { ...source, body: known };
  const members = readMembers(new JsonCursor(body));
  const edits = new Map<string, string>();
  for (const member of members) {
    const instead = SAID.get(member.key);
    if (instead !== undefined) edits.set(member.key, member.key === "input" ? toolItems(body, member) : instead);
  }
  const outline = splice(body, body.indexOf("{"), members, edits);
  const isShort = outline.length <= LONG_BODY_BYTES;
  return {
    ...source,
    body: isShort ? outline : Buffer.from(JSON.stringify(shortened(JSON.parse(outline.toString()), 0))),
  };
}

/** The items of an input that bring tools, as a list; a text that says nothing where there are none. */
function toolItems(body: Buffer, { valueStart, end }: Member): string {
  const items: string[] = [];
  if (body[valueStart] === 0x5b && mayHold(body.subarray(valueStart, end), TOOL_ITEM)) {
    const cursor = new JsonCursor(body.subarray(valueStart, end));
    cursor.enterArray();
    while (cursor.nextItem()) {
      const start = cursor.at;
      cursor.skip();
      const item = cursor.bytes.subarray(start, cursor.at);
      if (mayHold(item, TOOL_ITEM)) items.push(item.toString());
    }
  }
  return items.length === 0 ? '""' : `[${items.join(",")}]`;
}

/** The names of tools stay; long texts are cut, and schemas are left out. */
function shortened(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.slice(0, TEXT_CHARACTERS_MAX);
  if (Array.isArray(value)) return depth > DEPTH_MAX ? [] : listOf(value).map((item) => shortened(item, depth + 1));
  const members = objectOf(value);
  if (members === undefined) return value;
  if (depth > DEPTH_MAX) return {};
  return Object.fromEntries(Object.entries(members).map(([key, item]) => [key, shortened(item, depth + 1)]));
}
