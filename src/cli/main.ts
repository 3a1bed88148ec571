#!/usr/bin/env node
/** The command `tollgate`: reads the command line, runs one command, and says in one line what went wrong. */
import { type Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.js";
import { oneLine, programWithoutCommands } from "./base-program.js";
import { runnable } from "../base/package-root.js";
import { exitCodeOf } from "./exit-code.js";
import { addServeCommand } from "./serve.js";

/** Says what went wrong; a settings file may be wrong in many places, so it gets a line each. */
function report(error: unknown): void {
  process.exitCode = exitCodeOf(error);
  // Of a wrong command line or a wish for help, commander has said all there is.
  if (error instanceof CommanderError) return;
  const lines =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) process.stderr.write(`tollgate: ${oneLine(runnable(line))}\n`);
  // Connections and timers that a failed start left must not keep the process.
  process.exit();
}

/** A gateway lives long: of all commands it loads and keeps the one that it is. */
async function programOf([command]: readonly string[]): Promise<Command> {
  if (command !== "serve") return (await import("./program.js")).buildProgram();
  const program = programWithoutCommands();
  addServeCommand(program);
  return program;
}

// `tollgate key list | head` ends us early, which is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

try {
  // Without a command it does what it is for.
  const [node = "", file = "", ...typed] = process.argv;
  const words = typed.length === 0 ? ["serve"] : typed;
  const program = await programOf(words);
  await program.parseAsync([node, file, ...words]);
} catch (error) {
  report(error);
}
