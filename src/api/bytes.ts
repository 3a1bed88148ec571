/** Bytes under another of their types. */

/** The same memory as a Buffer; nothing is copied. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
