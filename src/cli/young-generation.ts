/** How far the young generation of V8 may grow: under load it keeps what it took, and requests die young in little. */
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Two halves of 8 MiB. V8's own bound is twice that: 50 MB more resident under load, and nothing gained by it. */
const GROWN_BYTES = 16 * 1024 * 1024;

/** What loading leaves behind would widen it for good: so much an idle gateway has no use for. */
export function keepYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** From now on it grows by what requests leave in it, until it is seen at its bound: one turn may take it further. */
export function growYoungGeneration(): void {
  let isGrowing = false;
  const look = (): void => {
    // V8 makes it smaller where little happens, so it must be free to grow again.
    const mayGrow = sizeBytes() < GROWN_BYTES;
    if (mayGrow === isGrowing) return;
    isGrowing = mayGrow;
    if (mayGrow) setFlagsFromString("--semi-space-growth-factor=2");
    else keepYoungGeneration();
  };
  look();
  // It grows by one step at the end of a collection.
  new PerformanceObserver(look).observe({ entryTypes: ["gc"] });
}

function sizeBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}
