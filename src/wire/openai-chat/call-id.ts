/** Ids of calls that the wire does not take as they are: made to fit, always in the same way. */
import { createHash } from "node:crypto";

const CHARACTERS_MAX = 64;
const HASH_CHARACTERS = 12;
const SHORT_ID = /^[A-Za-z0-9]{9}$/;

/** An id of a call as the wire takes it. Two that differ stay two. */
export function fitting(text: string): string {
  if (text.length <= CHARACTERS_MAX) return text;
  return `${text.slice(0, CHARACTERS_MAX - HASH_CHARACTERS - 1)}_${hashOf(text).slice(0, HASH_CHARACTERS)}`;
}

/** An id of a call as nine letters and digits. */
export function shortCallId(id: string): string {
  return SHORT_ID.test(id) ? id : hashOf(id).slice(0, 9);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
