/** The texts that a LiteLLM proxy encrypts in its database, by its LITELLM_SALT_KEY or else its master key. */
import { createDecipheriv, createHash, hkdfSync } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa";

const [NONCE_BYTES, TAG_BYTES, BOX_NONCE_BYTES] = [12, 16, 24];
const GCM_FORMS: Readonly<Record<string, (salt: string) => Buffer>> = {
  "v3:gcm:": (salt) => Buffer.from(hkdfSync("sha256", salt, "", "litellm-at-rest-v3", 32)),
  "v2:gcm:": sha256,
};

/** The text; undefined where the salt key is not the one that it was encrypted with, or it is not encrypted. */
export function decrypted(text: string, salt: string): string | undefined {
  try {
    for (const [prefix, keyOf] of Object.entries(GCM_FORMS))
      if (text.startsWith(prefix)) return fromGcm(Buffer.from(text.slice(prefix.length), "base64url"), keyOf(salt));
    return fromBox(Buffer.from(text, "base64url"), sha256(salt));
  } catch {
    return undefined;
  }
}

function fromGcm(bytes: Buffer, key: Buffer): string {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString("utf8");
}

/** A secret box of NaCl: its nonce, and what it holds. */
function fromBox(bytes: Buffer, key: Buffer): string {
  const box = xsalsa20poly1305(key, bytes.subarray(0, BOX_NONCE_BYTES));
  return Buffer.from(box.decrypt(bytes.subarray(BOX_NONCE_BYTES))).toString("utf8");
}

function sha256(salt: string): Buffer {
  return createHash("sha256").update(salt).digest();
}
