/** Secrets of webhooks as the database keeps them: encrypted with a key of the root secret, each for its webhook. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class SecretSeal {
  readonly #keys: readonly Buffer[];

  /** Keys of 32 bytes: the one in force, and after it those that may have sealed what is there. */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
  }

  seal(ownerId: string, secret: string): Uint8Array {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("there is no key to seal with");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(ownerId));
    const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** Undefined where none of the keys opens it: it was sealed under another root secret, or for another webhook. */
  open(ownerId: string, bytes: Uint8Array): string | undefined {
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(ownerId)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([plain, decipher.final()]).toString("utf8");
      } catch {
        // Sealed with another of them.
      }
    }
    return undefined;
  }
}
