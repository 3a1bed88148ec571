/** A setting that stops the start, or that is refused while running: what is wrong, a line each. */
export class ConfigError extends Error {
  /** A sentence each. One for a variable; for a settings file one for each problem, with its line and column. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join("\n"), options);
    this.name = "ConfigError";
    this.problems = problems;
  }
}
