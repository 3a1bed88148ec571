/**
 * How a conversation begins: its system prompt, its tools and its first user message. All requests of one conversation
 * begin so, and an upstream's prompt cache has just that.
 */
import { createHash, type Hash } from "node:crypto";
import { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";

/** So many characters of each part count. */
const PART_CHARACTERS_MAX = 16_384;
/** What is read of a part: names of members, and members that do not count, take the rest. */
const PART_BYTES_MAX = 2 * PART_CHARACTERS_MAX;

const SYSTEM: ReadonlySet<string> = new Set(["system", "instructions", "systemInstruction", "system_instruction"]);
const TOOLS: ReadonlySet<string> = new Set(["tools", "toolConfig", "functions"]);
const TURNS: ReadonlySet<string> = new Set(["messages", "input", "contents"]);
const SYSTEM_ROLES: ReadonlySet<string> = new Set(["system", "developer"]);

/** Claude Code writes a line of its own into each request, and no two are the same. */
const ATTRIBUTION = "x-anthropic-billing-header";
/**
 * Members whose values do not count: clients move the marks of a cache from turn to turn, and write a text as a string
 * in one turn and as a part in the next.
 */
const UNCOUNTED: ReadonlySet<string> = new Set(["type", "ttl", "role", "id"]);
/**
 * A string of JSON, which the end of the text may cut, even behind a backslash, and the colon behind it if it is a
 * name. Every quote that begins a string matches: one that does not would be searched from again at each quote in it.
 */
const STRING = /"([^"\\]*(?:\\.[^"\\]*)*)(?:"(\s*:)?|\\?$)/gs;

/** A digest of the opening; empty if the body has no message of a user. `members` are all members of the body. */
export function openingOf(body: Buffer, members: readonly Member[]): string {
  const hash = createHash("sha256");
  let hasUser = false;
  for (const { key, valueStart, end } of members) {
    if (SYSTEM.has(key) || TOOLS.has(key)) addPart(hash, body, valueStart, end);
    else if (TURNS.has(key)) hasUser = addTurns(hash, body.subarray(valueStart, end), key);
  }
  return hasUser ? hash.digest("base64url") : "";
}

/** Adds the system messages and the first message of the user. Returns false if there is none. */
function addTurns(hash: Hash, turns: Buffer, key: string): boolean {
  const cursor = new JsonCursor(turns);
  if (cursor.kind() === "string") {
    addPart(hash, turns, 0, turns.length);
    return true;
  }
  if (cursor.kind() !== "array") return false;
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    // A turn of Gemini's is the user's if it does not say whose it is.
    const role = roleOf(cursor) ?? (key === "contents" ? "user" : "");
    if (role === "user" || SYSTEM_ROLES.has(role)) addPart(hash, turns, start, cursor.at);
    if (role === "user") return true;
  }
  return false;
}

/** The role of the turn that comes next, which is passed; undefined if it has none. */
function roleOf(cursor: JsonCursor): string | undefined {
  if (cursor.kind() !== "object") {
    cursor.skip();
    return undefined;
  }
  let role: string | undefined;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "role" && cursor.kind() === "string") role = cursor.readString();
    else cursor.skip();
  }
  return role;
}

/** Adds the texts of a value. */
function addPart(hash: Hash, body: Buffer, start: number, end: number): void {
  const text = body.toString("latin1", start, Math.min(end, start + PART_BYTES_MAX));
  let left = PART_CHARACTERS_MAX;
  let name = "";
  for (const [, string = "", colon] of text.matchAll(STRING)) {
    if (colon !== undefined) {
      name = string;
      continue;
    }
    if (UNCOUNTED.has(name) || string.startsWith(ATTRIBUTION)) continue;
    const counted = string.slice(0, left);
    hash.update(counted, "latin1").update("\0");
    left -= counted.length;
    if (left === 0) break;
  }
  hash.update("\n");
}
