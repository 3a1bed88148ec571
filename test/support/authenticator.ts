/** What an authenticator shows for a second factor; each code is good once, so that each call shows another one. */
import { codeOf, stepAt } from "../../src/identity/totp.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/** Two codes, one after the other, which are still taken where the next step begins before they arrive. */
const STEPS = [0, 1];

/** A function that shows the next code. The secret is in base32, as the gateway tells it. */
export function authenticator(secret: string): () => string {
  const bits = [...secret].map((sign) => ALPHABET.indexOf(sign).toString(2).padStart(5, "0")).join("");
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  let shown = 0;
  return () => codeOf(bytes, stepAt(Date.now()) + (STEPS[shown++] ?? 1));
}
