/** The ids of requests. */
import { randomBytes } from "node:crypto";

const RANDOM_DIGITS = 20;
/** Random digits are drawn for many ids at once: a draw costs more than an id. */
const DRAWN_DIGITS = RANDOM_DIGITS * 256;

/**
 * Makes 32 hexadecimal characters that never come again and grow with time, so that the rows of requests that run
 * together lie together: with ids in no order every commit would touch pages all over the database. `clockMs` is the
 * clock that records go by as well: a record is looked for from the time on that its id tells.
 */
export function requestIdsBy(clockMs: () => number): () => string {
  let drawn = "";
  let used = 0;
  let timeMs = 0;
  let timeText = "";
  return () => {
    if (used === drawn.length) {
      drawn = randomBytes(DRAWN_DIGITS / 2).toString("hex");
      used = 0;
    }
    const nowMs = clockMs();
    if (nowMs !== timeMs) {
      timeMs = nowMs;
      timeText = nowMs.toString(16).padStart(12, "0");
    }
    return timeText + drawn.slice(used, (used += RANDOM_DIGITS));
  };
}
