/** Asks the registry of packages again where it did not answer, before it is called broken. */

/** Pauses between the attempts: most outages last for seconds, and a longer one is reported. */
const PAUSES_MS = [5_000, 30_000];

/**
 * Runs an attempt until it succeeds, at most three times. Throws the error of the last attempt.
 * @template Result
 * @param {() => Result} attempt
 * @param {{ pause?: (ms: number) => void }} [clock]
 * @returns {Result}
 */
export function askAgain(attempt, { pause = pauseFor } = {}) {
  for (const ms of PAUSES_MS) {
    try {
      return attempt();
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\nAgain in ${ms / 1000} s.\n`);
      pause(ms);
    }
  }
  return attempt();
}

/** @param {number} ms */
function pauseFor(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
