/** Bytes under another of their types. */

import { countShared } from "./shared-bytes.js";

/** The same memory as a Buffer; nothing is copied. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  // What another thread gave is not counted for this one yet.
  if (buffer instanceof SharedArrayBuffer) countShared(buffer);
  return Buffer.from(buffer, byteOffset, byteLength);
}
