/** Whether this process may open one file or connection more: what fails for want of that is no upstream's fault. */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { isDescriptorError } from "./upstream.js";

export function isOutOfDescriptors(open: () => void = openOne): boolean {
  try {
    open();
    return false;
  } catch (error) {
    return isDescriptorError(error);
  }
}

function openOne(): void {
  closeSync(openSync(devNull, "r"));
}
