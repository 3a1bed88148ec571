/** Edits of an object's own members that keep every other byte, in order. */
import { invalid, type JsonCursor } from "./cursor.js";

/** One member of an object, by its bytes. */
export interface Member {
  readonly key: string;
  /** The first quote of the key. */
  readonly start: number;
  readonly valueStart: number;
  /** Behind the value. */
  readonly end: number;
}

/** What to do with one member. A key that is not there is put last; undefined takes the member away. */
export type Edits = ReadonlyMap<string, Buffer | string | undefined>;

/** Every member of the object that comes next, passed over. Throws BODY_INVALID where a key occurs twice. */
export function readMembers(cursor: JsonCursor): Member[] {
  const members: Member[] = [];
  const keys = new Set<string>();
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    claimKey(keys, key);
    const start = cursor.memberStart;
    const valueStart = cursor.at;
    cursor.skip();
    members.push({ key, start, valueStart, end: cursor.at });
  }
  return members;
}

/** Notes a key of an object. Two readers may take different ones of two equal keys, so neither is taken. */
export function claimKey(keys: Set<string>, key: string): void {
  if (keys.has(key)) throw invalid(`the key '${key.slice(0, 64)}' occurs twice`);
  keys.add(key);
}

/** The bytes with the edits made. `open` is the place of the object's first brace; `members` are all of its members. */
export function splice(bytes: Buffer, open: number, members: readonly Member[], edits: Edits): Buffer {
  const pieces: (Buffer | string)[] = [];
  let kept = 0;
  const cut = (start: number, end: number, instead: Buffer | string): void => {
    pieces.push(bytes.subarray(kept, start), instead);
    kept = end;
  };
  const isRemoved = (member: Member): boolean => edits.has(member.key) && edits.get(member.key) === undefined;
  const lastKept = members.findLastIndex((member) => !isRemoved(member));
  members.forEach((member, place) => {
    if (!edits.has(member.key)) return;
    const value = edits.get(member.key);
    if (value !== undefined) return cut(member.valueStart, member.end, value);
    const next = members[place + 1];
    if (place < lastKept && next !== undefined) cut(member.start, next.start, "");
  });
  // Members behind the last that stays go with the comma before them; new ones take their place.
  const tail = members.at(-1)?.end ?? open + 1;
  const from = members[lastKept]?.end ?? open + 1;
  cut(from, tail, added(members, edits, lastKept >= 0));
  pieces.push(bytes.subarray(kept));
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)));
}

/** The members that the edits add, as text that follows the last member. */
function added(members: readonly Member[], edits: Edits, follows: boolean): string {
  const present = new Set(members.map((member) => member.key));
  const texts: string[] = [];
  for (const [key, value] of edits)
    if (!present.has(key) && value !== undefined) texts.push(`${JSON.stringify(key)}:${value.toString()}`);
  if (texts.length === 0) return "";
  return (follows ? "," : "") + texts.join(",");
}

/** A member's value as its body spells it. */
export function valueText(body: Buffer, { valueStart, end }: Member): string {
  return body.toString("latin1", valueStart, end);
}
