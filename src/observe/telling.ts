/** What one part tells others of what happened. Whoever cannot take it down must not stop what happens. */
import type { Log } from "./log.js";

/** As `tell`, but never throws: that it could not be told is logged. */
export function telling<Told extends readonly unknown[]>(
  log: Pick<Log, "error">,
  tell: (...told: Told) => void,
): (...told: Told) => void {
  return (...told) => {
    try {
      tell(...told);
    } catch (err) {
      log.error({ err }, "an event listener failed");
    }
  };
}
