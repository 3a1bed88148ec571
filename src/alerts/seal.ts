/** Secrets of webhooks as the database keeps them: encrypted with a key of the root secret, each for its webhook. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Keys of 32 bytes for one purpose, each derived from a root secret. */
export interface SealKeys {
  /** The one in force, and after it those that may have sealed what is there. */
  readonly keys: readonly Uint8Array[];
  /** That of them which will be gone; one that comes next is in no hurry. */
  readonly previous?: Uint8Array | undefined;
}

export class SecretSeal {
  readonly #keys: readonly Uint8Array[];
  readonly #previous: Uint8Array | undefined;

  constructor({ keys, previous }: SealKeys) {
    this.#keys = keys;
    this.#previous = previous;
  }

  /** True where there is a key that will be gone. */
  get hasPrevious(): boolean {
    return this.#previous !== undefined;
  }

  seal(ownerId: string, secret: string): Uint8Array {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("there is no key to seal with");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(ownerId));
    const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** The secret sealed with the key in force; undefined where it needs no key that will be gone. */
  sealAnew(ownerId: string, bytes: Uint8Array): Uint8Array | undefined {
    const secret = this.#previous && openWith(this.#previous, ownerId, bytes);
    return secret === undefined ? undefined : this.seal(ownerId, secret);
  }

  /** Undefined where none of the keys opens it: it was sealed under another root secret, or for another webhook. */
  open(ownerId: string, bytes: Uint8Array): string | undefined {
    for (const key of this.#keys) {
      const secret = openWith(key, ownerId, bytes);
      if (secret !== undefined) return secret;
    }
    return undefined;
  }
}

function openWith(key: Uint8Array, ownerId: string, bytes: Uint8Array): string | undefined {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(ownerId)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const plain = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([plain, decipher.final()]).toString("utf8");
  } catch {
    // Sealed with another of them.
    return undefined;
  }
}
