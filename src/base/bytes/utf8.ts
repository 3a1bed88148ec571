/** Bytes that somebody else calls text. */
import { isUtf8 } from "node:buffer";

/** The same bytes where they are UTF-8, else what is none of it replaced by the sign for that. */
export function asUtf8(bytes: Buffer): Buffer {
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString());
}
