/** A command that cannot do its work, in one line. */
export class CommandFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CommandFailure";
  }
}
