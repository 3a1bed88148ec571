/**
 * Loaded before a gateway in a test: at its start and at each SIGUSR2 its time of day becomes what it would be so many
 * milliseconds later as the file says that CLOCK_JUMP names. The monotonic clock goes on as it is.
 */
import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const RealDate = Date;
let jumpMs = 0;

class JumpingDate extends RealDate {
  /** @param {any[]} parts */
  constructor(...parts) {
    if (parts.length === 0) super(JumpingDate.now());
    else super(.../** @type {[any]} */ (parts));
  }

  static now() {
    return RealDate.now() + jumpMs;
  }
}

const path = process.env["CLOCK_JUMP"];
if (isMainThread && path !== undefined) {
  globalThis.Date = /** @type {DateConstructor} */ (/** @type {unknown} */ (JumpingDate));
  const jump = () => {
    jumpMs = Number(readFileSync(path, "utf8"));
  };
  jump();
  process.on("SIGUSR2", jump);
}
