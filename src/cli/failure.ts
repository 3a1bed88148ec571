/** A command that cannot do its work, in one line. */
import type { ExitCodeName } from "./exit-code.js";

export class CommandFailure extends Error {
  readonly code: ExitCodeName;

  constructor(message: string, code: ExitCodeName, options?: ErrorOptions) {
    super(message, options);
    this.name = "CommandFailure";
    this.code = code;
  }
}
