/** Items that a client names by their ids, put back as the answers told them that it had before. */
import { JsonCursor } from "../json/cursor.js";
import { type Member, readMembers, splice } from "../json/splice.js";
import { mayHold } from "../json/text.js";
import { listOf, objectOf, parsed, textOf } from "../json/value.js";

const REFERENCE = "item_reference";
const DATA = Buffer.from("\ndata:");
const NOT_STORED = /"store"\s*:\s*false/;
/** A name of a member with a letter spelled as a number. */
const SPELLED_KEY = /"[a-z]*\\u00[a-z0-9\\]*"\s*:/i;
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);

/** Answers, as JSON, that hold a text: the newest first. */
export type FindAnswers = (text: string) => Iterable<Buffer>;

/** The body with the items in the place of their names, as far as they are found; else the very same. */
export function withNamedItems(body: Buffer, find: FindAnswers): Buffer {
  // Nobody spells the word otherwise, and a look at the bytes costs next to nothing.
  if (!body.includes(REFERENCE)) return body;
  const input = objectOf(parsed(body.toString()))?.["input"];
  if (!Array.isArray(input)) return body;
  const own = new Set(input.map((item) => (nameIn(item) === undefined ? textOf(objectOf(item)?.["id"]) : "")));
  let isChanged = false;
  const items = input.map((item) => {
    const id = nameIn(item);
    const told = id === undefined || own.has(id) ? undefined : itemOf(id, find);
    isChanged ||= told !== undefined;
    return told ?? item;
  });
  if (!isChanged) return body;
  const cursor = new JsonCursor(body);
  const open = cursor.at;
  const members: readonly Member[] = readMembers(cursor);
  return splice(body, open, members, new Map([["input", JSON.stringify(items)]]));
}

function nameIn(item: unknown): string | undefined {
  const told = objectOf(item);
  return told?.["type"] === REFERENCE && typeof told["id"] === "string" ? told["id"] : undefined;
}

function itemOf(id: string, find: FindAnswers): unknown {
  for (const json of find(JSON.stringify(id))) {
    const output = listOf(objectOf(parsed(json.toString()))?.["output"]);
    const item = output.find((told) => objectOf(told)?.["id"] === id);
    if (item !== undefined) return item;
  }
  return undefined;
}

/** The whole response in the last bytes of a stream; undefined where it did not end well. */
export function responseIn(bytes: Buffer): Buffer | undefined {
  const at = bytes.lastIndexOf(DATA);
  const event = objectOf(parsed(bytes.toString("utf8", at === -1 ? 0 : at + DATA.length).trim()));
  const response = ENDS.has(textOf(event?.["type"])) ? objectOf(event?.["response"]) : undefined;
  return response === undefined ? undefined : Buffer.from(JSON.stringify(response));
}

/** False where the client says that nothing is to be stored, or might say so in another spelling. */
export function mayKeep(body: Buffer): boolean {
  if (!mayHold(body, "store")) return true;
  const text = body.toString("latin1");
  return !NOT_STORED.test(text) && !SPELLED_KEY.test(text);
}
