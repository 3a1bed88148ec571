/**
 * A moment in which nothing waits to be read: what the kernel has taken for a socket that closes, and that nobody has
 * read yet, is reset. Node cannot ask the kernel, but the event loop does each time that it polls.
 */

/** A turn of the event loop that is as short has run no handler since it polled. */
const TURN_MS = 0.05;
/** Where turns are longer than that, the shortest that may be hoped for: this share of the time already waited. */
const TURN_SHARE = 1 / 1_000;
/** A loop that is never quiet is waited for no longer. */
const WAIT_MS_MAX = 5_000;

/**
 * Runs `act` behind a short turn of the event loop in which `arrivals` did not grow, so that what arrived before its
 * poll was taken. What arrives between the poll and `act`, some microseconds, is not.
 */
export function inQuietTurn(arrivals: () => number, act = (): void => undefined): Promise<void> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    let before = { arrivals: arrivals(), ms: startMs };
    const look = (): void => {
      const now = { arrivals: arrivals(), ms: performance.now() };
      const waitedMs = now.ms - startMs;
      const isQuiet =
        now.arrivals === before.arrivals && now.ms - before.ms <= Math.max(TURN_MS, waitedMs * TURN_SHARE);
      if (!isQuiet && waitedMs < WAIT_MS_MAX) {
        before = { arrivals: arrivals(), ms: performance.now() };
        setImmediate(look);
        return;
      }
      act();
      resolve();
    };
    // A look runs behind the poll of its turn. The first one measures from the last turn, so it never acts.
    setImmediate(() => {
      before = { arrivals: arrivals(), ms: performance.now() };
      setImmediate(look);
    });
  });
}
