/** What all commands of `tollgate` share: its name, its help, and how it says what is wrong with a command line. */
import { Command } from "commander";
import { EXIT_CODES_HELP } from "./exit-code.js";
import { printable } from "./print.js";
import { readVersion } from "./version.js";

const EXAMPLES = `
Examples:
  tollgate serve
  tollgate account create acme && tollgate account credit acme 25.00 --id inv-7
  tollgate key create acme --name ci
  tollgate usage --account acme

All commands but serve, import, store and config (export does) talk to a running gateway over gRPC,
at --gateway or TOLLGATE_GATEWAY (127.0.0.1:8081),
with --key, TOLLGATE_KEY, or TOLLGATE_OPERATOR_KEY.`;

/** Without commands. */
export function programWithoutCommands(): Command {
  return new Command("tollgate")
    .description("A model-access gateway: one address for language models of many families.")
    .version(readVersion(), "--version", "print the version")
    .helpOption("-h, --help", "show this help")
    .addHelpText("after", `${EXAMPLES}\n${EXIT_CODES_HELP}`)
    .configureOutput({ outputError: (text, write) => write(`tollgate: ${oneLine(text.replace(/^error: /, ""))}\n`) })
    .exitOverride();
}

export function oneLine(text: string): string {
  return printable(text.trim().replaceAll(/\s*\n\s*/g, " "));
}
