/** Work that may take long gives way to the event loop and the database, which get a processor before it does. */
import { constants, setPriority } from "node:os";

/** Linux gives it a tenth of what others get where all processors are taken, and all of one that nobody else wants. */
export const BACKGROUND_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

/** Lowers the thread that calls it, for good. Only on Linux: elsewhere that would be the whole process. */
export function giveWay(): void {
  if (process.platform !== "linux") return;
  try {
    // 0 is whoever calls. On Linux that is the thread, as its manual of setpriority(2) says.
    setPriority(0, BACKGROUND_PRIORITY);
  } catch {
    // It has a lower one already, or may not change it: then it works as others do.
  }
}
