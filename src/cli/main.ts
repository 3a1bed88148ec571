#!/usr/bin/env node
/** The command `tollgate`: reads the command line, runs one command, and says in one line what went wrong. */
import { CommanderError } from "commander";
import { ConfigError } from "../config/config-error.js";
import { exitCodeOf } from "./exit-code.js";
import { buildProgram, oneLine } from "./program.js";

/** Says what went wrong; a settings file may be wrong in many places, so it gets a line each. */
function report(error: unknown): void {
  process.exitCode = exitCodeOf(error);
  // Of a wrong command line or a wish for help, commander has said all there is.
  if (error instanceof CommanderError) return;
  const lines =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) process.stderr.write(`tollgate: ${oneLine(line)}\n`);
  // Connections and timers that a failed start left must not keep the process.
  process.exit();
}

// `tollgate key list | head` ends us early, which is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  // Without a command it does what it is for.
  const [node = "", program = "", ...words] = process.argv;
  await buildProgram().parseAsync([node, program, ...(words.length === 0 ? ["serve"] : words)]);
} catch (error) {
  report(error);
}
