/** The secrets of sessions and links: 256 random bits, of which only a digest is stored. */
import { createHash } from "node:crypto";

export type RandomBytes = (byteCount: number) => Uint8Array;

/** A secret that is told once, with what is stored of it. */
export interface Token {
  readonly text: string;
  readonly digest: Uint8Array;
}

const SECRET_BYTES = 32;
const ID_BYTES = 12;

export function makeToken(randomBytes: RandomBytes): Token {
  const text = Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url");
  return { text, digest: digestOf(text) };
}

/** A slow hash would add nothing to so many random bits. */
export function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

/** An id that is no secret, such as `user_3kTMd...`. */
export function makeId(prefix: string, randomBytes: RandomBytes): string {
  return `${prefix}_${Buffer.from(randomBytes(ID_BYTES)).toString("hex")}`;
}
