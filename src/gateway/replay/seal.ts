/**
 * Seals stored answers with a key that is derived from the client's Idempotency-Key, so that they cannot be read
 * without it.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What is derived from an Idempotency-Key of an API key, or of a person in one account. */
export interface Seal {
  /** Identifies the stored answer. It reveals neither key. */
  readonly id: Buffer;
  readonly secret: Buffer;
}

/** The owner of an answer. A person acts in several accounts under one id. */
export interface Asker {
  readonly keyId: string;
  readonly accountId: string;
}

/** Both halves are derived from the root secret, so that the database alone reveals nothing. */
export function sealOf(rootSecret: Buffer, asker: Asker, idempotencyKey: string): Seal {
  const purpose = `tollgate answer of ${asker.keyId} in ${asker.accountId}`;
  const bytes = Buffer.from(hkdfSync("sha256", rootSecret, idempotencyKey, purpose, 64));
  return { id: bytes.subarray(0, 32), secret: bytes.subarray(32) };
}

/** `nonce` is 12 bytes that are never reused with this seal. */
export function sealed(seal: Seal, plain: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv(ALGORITHM, seal.secret, nonce);
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** Throws if the bytes are not what was sealed. */
export function opened(seal: Seal, bytes: Buffer): Buffer {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, seal.secret, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
