/** Recovery codes: each stands in for a second factor once. They are stored as digests. */
import { digestOf, type RandomBytes } from "./tokens.js";
import { base32 } from "./totp.js";

const CODES = 10;
/** 80 bits, which cannot be guessed at any rate. */
const CODE_BYTES = 10;

export function newRecoveryCodes(randomBytes: RandomBytes): readonly string[] {
  return Array.from({ length: CODES }, () =>
    base32(randomBytes(CODE_BYTES))
      .toLowerCase()
      .replace(/(.{4})(?=.)/g, "$1-"),
  );
}

/** The same however it was typed. */
export function recoveryDigest(code: string): Uint8Array {
  return digestOf(code.toLowerCase().replaceAll(/[\s-]/g, ""));
}
