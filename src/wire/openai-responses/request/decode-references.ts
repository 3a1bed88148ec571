/** Items that a client names by their ids, where they stand in a body, and the items that an answer told. */
import { scanBody } from "../../json/body.js";
import { JsonCursor } from "../../json/cursor.js";

const REFERENCE = "item_reference";
const DATA = Buffer.from("\ndata:");
const STORE = Buffer.from('"store"');
const NOT_STORED = /^"store"\s*(?::\s*(?:false|$)|$)/;
const SPELLED = Buffer.from("\\u00");
/** The rest of a name of a member with a letter spelled as a number. */
const SPELLED_KEY = /^\\u00[a-z0-9\\]*(?:"\s*(?::|$)|$)/i;
/** What stands behind a word that is looked at, and how often that is done: a body is not gone through as a whole. */
const LOOK_BYTES = 64;
const LOOKS_MAX = 50_000;
/** The letters of `store` before the last, which may be the only one that is spelled as a number. */
const LETTERS_MAX = 4;
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);
/** A longer answer is not looked through for what could be named. */
const ANSWER_BYTES_MAX = 1_310_720;
const NO_ITEMS: ReadonlyMap<string, Buffer> = new Map();

/** An item of an input that only names another: its bytes, from the first to behind the last. */
export interface NamedItem {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** A look at the bytes, quicker than to read them: nobody spells the word otherwise. */
export function mayName(body: Buffer): boolean {
  return body.includes(REFERENCE);
}

/**
 * The items that the body names and does not hold, in their order: each once, since one telling is enough for all that
 * name it. None where the body cannot be read, which is refused elsewhere.
 */
export function namedItems(body: Buffer): readonly NamedItem[] {
  if (!mayName(body)) return [];
  const named = new Map<string, NamedItem>();
  const own = new Set<string>();
  try {
    scanBody(body, (json, key) => {
      if (key === "input" && json.kind() === "array") noteItems(json, named, own);
      else json.skip();
      return undefined;
    });
  } catch {
    return [];
  }
  return [...named.values()].filter(({ id }) => !own.has(id));
}

function noteItems(json: JsonCursor, named: Map<string, NamedItem>, own: Set<string>): void {
  json.enterArray();
  while (json.nextItem()) {
    const start = json.at;
    const { type, id } = headOf(json);
    if (id === "") continue;
    if (type !== REFERENCE) own.add(id);
    else if (!named.has(id)) named.set(id, { id, start, end: json.at });
  }
}

/** Passes an item. */
function headOf(json: JsonCursor): { readonly type: string; readonly id: string } {
  let type = "";
  let id = "";
  if (json.kind() !== "object") json.skip();
  else {
    json.enterObject();
    for (let key = json.nextKey(); key !== undefined; key = json.nextKey()) {
      const isText = json.kind() === "string";
      if (isText && key === "type") type = json.readString();
      else if (isText && key === "id") id = json.readString();
      else json.skip();
    }
  }
  return { type, id };
}

/** The items of a whole answer, by their ids, as they were told; none where it did not end well, or is very long. */
export function toldItems(bytes: Buffer, isStream: boolean): ReadonlyMap<string, Buffer> {
  const at = isStream ? bytes.lastIndexOf(DATA) : -1;
  const told = at === -1 ? bytes : bytes.subarray(at + DATA.length);
  if (told.length > ANSWER_BYTES_MAX) return NO_ITEMS;
  try {
    const response = isStream ? responseOf(told) : told;
    const output = response && memberOf(new JsonCursor(response), "output");
    return output === undefined ? NO_ITEMS : itemsOf(new JsonCursor(output));
  } catch {
    return NO_ITEMS;
  }
}

function responseOf(event: Buffer): Buffer | undefined {
  const type = memberOf(new JsonCursor(event), "type");
  const isEnd = type !== undefined && ENDS.has(new JsonCursor(type).readString());
  return isEnd ? memberOf(new JsonCursor(event), "response") : undefined;
}

function memberOf(json: JsonCursor, name: string): Buffer | undefined {
  json.enterObject();
  for (let key = json.nextKey(); key !== undefined; key = json.nextKey()) {
    const start = json.at;
    json.skip();
    if (key === name) return json.bytes.subarray(start, json.at);
  }
  return undefined;
}

function itemsOf(json: JsonCursor): ReadonlyMap<string, Buffer> {
  const items = new Map<string, Buffer>();
  json.enterArray();
  while (json.nextItem()) {
    const start = json.at;
    const { id } = headOf(json);
    if (id !== "") items.set(id, json.bytes.subarray(start, json.at));
  }
  return items;
}

/** False where the client says that nothing is to be stored, or might say so in another spelling. */
export function mayKeep(body: Buffer): boolean {
  let looks = 0;
  for (let at = body.indexOf(STORE); at !== -1; at = body.indexOf(STORE, at + STORE.length))
    if (++looks > LOOKS_MAX || NOT_STORED.test(lookAt(body, at))) return false;
  for (let at = body.indexOf(SPELLED); at !== -1; at = body.indexOf(SPELLED, at + SPELLED.length))
    if (++looks > LOOKS_MAX || (opensKey(body, at) && SPELLED_KEY.test(lookAt(body, at)))) return false;
  return true;
}

function lookAt(body: Buffer, at: number): string {
  return body.toString("latin1", at, at + LOOK_BYTES);
}

/** True where nothing but letters stands between the place and a quote before it. */
function opensKey(body: Buffer, at: number): boolean {
  for (let before = at - 1; before >= at - 1 - LETTERS_MAX; before--) {
    const byte = body[before] ?? 0;
    if (byte === 0x22) return true;
    if ((byte | 0x20) < 0x61 || (byte | 0x20) > 0x7a) return false;
  }
  return false;
}
