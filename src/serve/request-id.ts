/** The ids of requests. */
import { randomFillSync } from "node:crypto";

const RANDOM_BYTES = 10;
/** Random bytes are drawn for many ids at once: a draw costs more than an id. */
const drawn = Buffer.alloc(RANDOM_BYTES * 256);
let used = drawn.length;

/**
 * 32 hexadecimal characters that never come again and grow with time, so that the rows of requests that run together
 * lie together: with ids in no order every commit would touch pages all over the database.
 */
export function makeRequestId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const random = drawn.toString("hex", used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  return Date.now().toString(16).padStart(12, "0") + random;
}
