/** Names of members that name what an upstream keeps: the table of them, and a cheap look at a name's bytes. */
import { nameIn } from "../json/recent-names.js";
import { foldedName, isPlainLetter, remembered } from "./folded-name.js";

const INSTEAD = "what the upstream keeps is shared by all who use this gateway, so nothing is taken by its id";
export const SEND_IT = `${INSTEAD}; send the content itself`;

export const CONVERSATION = `${INSTEAD}; send the conversation itself`;
const SEARCHED = `${INSTEAD}; send what is to be searched in the prompt`;
export const SEND_TEXT = `${INSTEAD}; send its text in the prompt`;
export const NEW_CONTAINER = `${INSTEAD}; leave it out, and a new container is made`;

/** Members that name such an object wherever they stand, folded, and what to do. */
export const HELD: ReadonlyMap<string, string> = new Map([
  ["fileid", SEND_IT],
  ["fileids", SEND_IT],
  ["inputfileid", SEND_IT],
  ["inputfileids", SEND_IT],
  ["cachedcontent", SEND_IT],
  ["cachedcontentid", SEND_IT],
  ["vectorstoreid", SEARCHED],
  ["vectorstoreids", SEARCHED],
  ["filesearchstorename", SEARCHED],
  ["filesearchstorenames", SEARCHED],
  // A bucket that the operator's credential may read.
  ["s3location", SEND_IT],
  ["datasetid", SEARCHED],
  ["datasetids", SEARCHED],
  ["knowledgebaseid", SEARCHED],
  ["knowledgebaseids", SEARCHED],
  ["containerid", NEW_CONTAINER],
  ["skillid", SEND_TEXT],
  ["skillids", SEND_TEXT],
  ["promptid", SEND_TEXT],
  ["assistantid", SEND_TEXT],
  ["previousresponseid", CONVERSATION],
  ["previousinteractionid", CONVERSATION],
  ["conversationid", CONVERSATION],
  ["threadid", CONVERSATION],
]);

/** A shorter name folds to none of them. */
export const LETTERS_MIN = 5;
const LOWER = 0x20;

/** By its first letter and its last two: how many letters the shortest such name has; 0 where there is none. */
const SHORTEST = new Uint8Array(32 * 32 * 32);
for (const name of HELD.keys()) {
  const place = placeOf(name.charCodeAt(0), name.charCodeAt(name.length - 2), name.charCodeAt(name.length - 1));
  SHORTEST[place] = Math.min(SHORTEST[place] || name.length, name.length);
}

function placeOf(first: number, beforeLast: number, last: number): number {
  return ((first & 31) << 10) | ((beforeLast & 31) << 5) | (last & 31);
}

/**
 * False where no reader takes these bytes for one of the names; nearly every member of a body is told by its first and
 * last letters. What does not begin and end with plain letters may be folded to anything.
 */
export function mayNameKept(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < LETTERS_MIN) return false;
  const first = (bytes[start] ?? 0) | LOWER;
  const beforeLast = (bytes[end - 2] ?? 0) | LOWER;
  const last = (bytes[end - 1] ?? 0) | LOWER;
  if (isPlainLetter(first) && isPlainLetter(beforeLast) && isPlainLetter(last)) {
    const shortest = SHORTEST[placeOf(first, beforeLast, last)] ?? 0;
    if (shortest === 0 || end - start < shortest) return false;
  }
  return isKept(nameIn(bytes, start, end));
}

const isKept = remembered((name) => HELD.has(foldedName(name)));
