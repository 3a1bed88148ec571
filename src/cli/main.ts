#!/usr/bin/env node
/** The command `tollgate`: reads the command line, runs one command, and says in one line what went wrong. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.js";
import { addAccountCommands } from "./account.js";
import { addAuditCommands } from "./audit.js";
import { addCompletionCommand } from "./completion.js";
import { addAlertCommands } from "./alert.js";
import { addConfigCommands } from "./config.js";
import { addRequestCommands } from "./correction.js";
import { addExportCommands } from "./export.js";
import { addImportCommands } from "./import.js";
import { addKeyCommands } from "./key.js";
import { EXIT_CODES_HELP, exitCodeOf } from "./exit-code.js";
import { printable } from "./print.js";
import { addNodeCommands } from "./node.js";
import { addReportCommands } from "./report.js";
import { addServeCommand } from "./serve.js";
import { addStoreCommands } from "./store.js";
import { addUpstreamCommands } from "./upstream.js";
import { addUserCommands } from "./user.js";
import { readVersion } from "./version.js";

const EXAMPLES = `
Examples:
  tollgate serve
  tollgate account create acme && tollgate account credit acme 25.00 --id inv-7
  tollgate key create acme --name ci
  tollgate usage --account acme

All commands but serve, config, import and store talk to a running gateway over gRPC, at --gateway or
TOLLGATE_GATEWAY (127.0.0.1:8081), with --key, TOLLGATE_KEY, or TOLLGATE_OPERATOR_KEY.`;

function buildProgram(): Command {
  const program = new Command("tollgate")
    .description("A model-access gateway: one address for language models of many families.")
    .version(readVersion(), "--version", "print the version")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", `${EXAMPLES}\n${EXIT_CODES_HELP}`)
    .configureOutput({ outputError: (text, write) => write(`tollgate: ${oneLine(text.replace(/^error: /, ""))}\n`) })
    .exitOverride();
  addServeCommand(program);
  addKeyCommands(program);
  addAccountCommands(program);
  addRequestCommands(program);
  addReportCommands(program);
  addNodeCommands(program);
  addAuditCommands(program);
  addAlertCommands(program);
  addConfigCommands(program);
  addImportCommands(program);
  addStoreCommands(program);
  addUpstreamCommands(program);
  addUserCommands(program);
  addExportCommands(program);
  addCompletionCommand(program);
  return program;
}

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

function oneLine(text: string): string {
  return printable(text.trim().replaceAll(/\s*\n\s*/g, " "));
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
