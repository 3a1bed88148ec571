/** Whether this process may open one file or connection more: what fails for want of that is no upstream's fault. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** The system's or the process's table of open files is full. */
const FULL: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

export function isOutOfDescriptors(open: () => void = openOne): boolean {
  try {
    open();
    return false;
  } catch (error) {
    return isDescriptorError(error);
  }
}

export function isDescriptorError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FULL.has(error.code);
}

function openOne(): void {
  closeSync(openSync(devNull, "r"));
}
