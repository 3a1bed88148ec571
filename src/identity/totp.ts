/** Time-based one-time codes of RFC 6238 as every authenticator shows them: SHA-1, six digits, 30 seconds. */
import { createHmac } from "node:crypto";
import { equalInConstantTime } from "../base/constant-time.js";

const STEP_MS = 30_000;
const DIGITS = 6;
/** A clock may be one step off, either way. */
const STEPS_OFF = 1;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 of RFC 4648 without padding, as authenticators take it. */
export function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31] ?? "";
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (ALPHABET[(value << (5 - bits)) & 31] ?? "");
}

export function stepAt(timeMs: number): number {
  return Math.floor(timeMs / STEP_MS);
}

/** The code of a step; RFC 4226, section 5.3. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac("sha1", secret).update(counter).digest();
  const offset = (hash[hash.length - 1] ?? 0) & 15;
  const number = hash.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The step whose code it is, of those that count now; undefined where it is of none. */
export function stepOf(secret: Uint8Array, code: string, nowMs: number): number | undefined {
  const given = Buffer.from(code.replaceAll(" ", ""));
  let found: number | undefined;
  for (let step = stepAt(nowMs) - STEPS_OFF; step <= stepAt(nowMs) + STEPS_OFF; step++) {
    const right = Buffer.from(codeOf(secret, step));
    if (equalInConstantTime(given, right)) found = step;
  }
  return found;
}

/** What is drawn as a QR code. */
export function otpauthUri(issuer: string, email: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}
