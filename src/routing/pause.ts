/** A wait that ends early where its request ends. */
import type { CancelSignal } from "../base/cancellation.js";

export function pause(durationMs: number, signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal.addEventListener("abort", done, { once: true });
  });
}
