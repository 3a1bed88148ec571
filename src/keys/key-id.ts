/** Ids of keys: `key_` and 26 characters that sort by the time they were made, as in a ULID. */
import type { RandomBytes } from "./secret.js";

/** Crockford's base 32 in lower case: in the order of every collation. */
const BASE32 = "0123456789abcdefghjkmnpqrstvwxyz";
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

export function makeKeyId(nowMs: number, randomBytes: RandomBytes): string {
  let time = "";
  let rest = Math.max(0, Math.floor(nowMs));
  for (let place = 0; place < TIME_LENGTH; place++) {
    time = BASE32.charAt(rest % 32) + time;
    rest = Math.floor(rest / 32);
  }
  let random = "";
  for (const byte of randomBytes(RANDOM_LENGTH)) random += BASE32.charAt(byte % 32);
  return `key_${time}${random}`;
}

/** How the ids of keys begin that no list shows. */
export const HIDDEN_IDS = "play_";

/** The id of a key that no list shows. */
export function hiddenId(id: string): string {
  return id.replace(/^[a-z]*_?/, HIDDEN_IDS);
}

export function isHiddenId(id: string): boolean {
  return id.startsWith(HIDDEN_IDS);
}
