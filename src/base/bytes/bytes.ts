/** Bytes under another of their types. */

import { countShared } from "./shared-bytes.js";

/** The same memory as a Buffer; nothing is copied. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  // What another thread gave is not counted for this one yet.
  if (buffer instanceof SharedArrayBuffer) countShared(buffer);
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The memory behind a piece that has it alone, as pieces of a body have; of any other, others may still use it. */
export function ownMemory({ buffer, byteLength }: Buffer): ArrayBuffer | undefined {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? buffer : undefined;
}
