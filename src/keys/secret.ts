/** The secrets that clients carry: how one is made, told apart, masked, and turned into what is stored. */
import { createHmac, hkdfSync } from "node:crypto";
import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { GatewayError } from "../base/errors.js";

/** Makes random bytes. */
export type RandomBytes = (byteCount: number) => Uint8Array;

/**
 * - `ours-valid`: our shape, and the checksum fits.
 * - `ours-mistyped`: our shape, but the checksum or the length is wrong. No database can know it.
 * - `foreign`: a secret that was made elsewhere and may have been imported.
 * - `malformed`: no secret that this gateway takes.
 */
export type SecretShape = "ours-valid" | "ours-mistyped" | "foreign" | "malformed";

const PREFIX = "sk-";
const OURS = "sk-tg";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Eight characters end the public part; 32, about 190 bits, are the secret one. */
const RANDOM_LENGTH = 8 + 32;
const CHECKSUM_LENGTH = 6;
const OURS_LENGTH = OURS.length + RANDOM_LENGTH + CHECKSUM_LENGTH;
/** The lost or doubled character is the commonest slip, so that up to two more or fewer still count as ours. */
const OURS_SHAPE = /^sk-tg[0-9A-Za-z]{44,48}$/;
const FOREIGN_SHAPE = /^sk-[\x21-\x7e]{16,253}$/;
const FOREIGN_LENGTH_MIN = PREFIX.length + 16;
/**
 * The largest multiple of 62 in a byte: bytes from here on are drawn again, or the first characters would come more
 * often.
 */
const UNBIASED_BELOW = 248;
const DRAWS_MAX = 64;

/** Makes a secret: `sk-tg`, 8 public and 32 secret random characters, and 6 of CRC32 over all before them. */
export function makeSecret(randomBytes: RandomBytes): string {
  const body = OURS + randomBase62(RANDOM_LENGTH, randomBytes);
  return body + checksumOf(body);
}

/** Tells a secret's shape, without I/O. */
export function shapeOf(secret: string): SecretShape {
  if (OURS_SHAPE.test(secret)) {
    const fits = secret.length === OURS_LENGTH && secret.endsWith(checksumOf(secret.slice(0, -CHECKSUM_LENGTH)));
    return fits ? "ours-valid" : "ours-mistyped";
  }
  return FOREIGN_SHAPE.test(secret) ? "foreign" : "malformed";
}

/**
 * The secret as people may see it, such as `sk-tg3f...x9`: at most seven first and two last characters, while at least
 * ten are hidden. Text that is too short for that, or not printable, shows nothing but a leading `sk-`.
 */
export function hintOf(secret: string): string {
  const shown = secret.startsWith(PREFIX) ? PREFIX : "";
  if (secret.length < FOREIGN_LENGTH_MIN || /[^\x21-\x7e]/.test(secret)) return `${shown}...`;
  const first = secret.slice(0, secret.startsWith(OURS) ? OURS.length + 2 : PREFIX.length + 2);
  return `${first}...${secret.slice(-2)}`;
}

/** The key of digests, and four bytes that name it. */
export interface Pepper {
  readonly key: Buffer;
  readonly id: Buffer;
}

const DIGEST_BYTES = 32;

/** The key of all digests. It is derived from the root secret, so that a stolen table is of no use without that. */
export function pepperOf(rootSecret: Buffer): Pepper {
  return { key: derive(rootSecret, "tollgate key pepper", 32), id: derive(rootSecret, "tollgate key pepper id", 4) };
}

/**
 * What is stored of a secret: HMAC-SHA-256, and behind it the pepper's name, so that the digests of a root secret that
 * is rotated away can be counted. A slow hash would add nothing to 190 random bits.
 */
export function digestOf({ key, id }: Pepper, secret: string): Buffer {
  return Buffer.concat([createHmac("sha256", key).update(secret).digest(), id]);
}

/** Names the digests that another gateway made without a pepper: SHA-256 of the secret. */
const IMPORTED_ID = Buffer.from("sha2");

/** What is stored of a secret that was imported by its SHA-256, until it is used. */
export function importedDigestOf(sha256: Uint8Array): Buffer {
  return Buffer.concat([sha256, IMPORTED_ID]);
}

/** True where the digest was imported. */
export function isImported(digest: Uint8Array): boolean {
  return IMPORTED_ID.equals(digest.subarray(DIGEST_BYTES));
}

/** True where this pepper made the digest. */
export function wasMadeWith({ id }: Pepper, digest: Uint8Array): boolean {
  return id.equals(digest.subarray(DIGEST_BYTES));
}

function derive(rootSecret: Buffer, purpose: string, byteCount: number): Buffer {
  return Buffer.from(hkdfSync("sha256", rootSecret, "", purpose, byteCount));
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = BASE62.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  for (let draw = 0; draw < DRAWS_MAX; draw++) {
    for (const byte of randomBytes(length)) {
      if (byte < UNBIASED_BELOW) text += BASE62.charAt(byte % 62);
      if (text.length === length) return text;
    }
  }
  assert.fail("the source of randomness is broken");
}

/** Throws PARAMETER_INVALID where it is no secret that a key may have. */
export function requireImportable(secret: string): void {
  switch (shapeOf(secret)) {
    case "ours-valid":
    case "foreign":
      return;
    case "ours-mistyped":
      throw invalid(`${hintOf(secret)} has this gateway's shape but a wrong checksum or length: it is mistyped`);
    case "malformed":
      throw invalid("must be sk- and 16 to 253 more characters, printable ASCII without spaces");
  }
}

function invalid(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "secret", problem });
}
