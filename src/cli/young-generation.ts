/** How far V8's young generation may grow: what it once took it keeps, and a gateway's requests die young in a little. */
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Two halves of 8 MiB. Twice that is V8's own bound: 24 MB more resident, for a few percent of a request's time. */
const GROWN_BYTES = 16 * 1024 * 1024;

/** What loading leaves behind would widen it for good: so much an idle gateway has no use for. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** From now on it grows by what requests leave in it, up to its bound. */
export function growYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
  const observer = new PerformanceObserver(() => {
    if (sizeBytes() < GROWN_BYTES) return;
    keepYoungGenerationSmall();
    observer.disconnect();
  });
  // It grows at the end of a collection, by one step at a time.
  observer.observe({ entryTypes: ["gc"] });
}

function sizeBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}
