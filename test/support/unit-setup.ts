/** Before the unit tests: temporary files lie in memory, and what the SDKs declare is read. Nothing is built. */
import { useQuickDirectory } from "./quick-directory.js";
import { sdkRequests } from "./sdk-requests.js";
import { sdkShapes } from "./sdk-shapes.js";

/** @returns What ends with the run. */
export function setup(): () => void {
  sdkShapes();
  sdkRequests();
  return useQuickDirectory();
}
