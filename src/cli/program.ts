/** All commands of `tollgate`, with their options and help. */
import { Command } from "commander";
import { addAccountCommands } from "./account.js";
import { addAlertCommands } from "./alert.js";
import { addAuditCommands } from "./audit.js";
import { addCodeCommands } from "./codes.js";
import { addCompletionCommand } from "./completion.js";
import { addConfigCommands } from "./config.js";
import { addRequestCommands } from "./correction.js";
import { addEstimateCommand } from "./estimate.js";
import { EXIT_CODES_HELP } from "./exit-code.js";
import { addExportCommands } from "./export.js";
import { addImportCommands } from "./import.js";
import { addKeyCommands } from "./key.js";
import { addNodeCommands } from "./node.js";
import { addPaymentCommands } from "./payments.js";
import { addReportCommands } from "./report.js";
import { addServeCommand } from "./serve.js";
import { addStoreCommands } from "./store.js";
import { addTopCommand } from "./top.js";
import { addUpstreamCommands } from "./upstream.js";
import { addUsageCommand } from "./usage.js";
import { addUserCommands } from "./user.js";
import { readVersion } from "./version.js";
import { printable } from "./print.js";

const EXAMPLES = `
Examples:
  tollgate serve
  tollgate account create acme && tollgate account credit acme 25.00 --id inv-7
  tollgate key create acme --name ci
  tollgate usage --account acme

All commands but serve, import, store and config (export does) talk to a running gateway over gRPC,
at --gateway or TOLLGATE_GATEWAY (127.0.0.1:8081),
with --key, TOLLGATE_KEY, or TOLLGATE_OPERATOR_KEY.`;

export function buildProgram(): Command {
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
  addCodeCommands(program);
  addPaymentCommands(program);
  addRequestCommands(program);
  addUsageCommand(program);
  addTopCommand(program);
  addReportCommands(program);
  addEstimateCommand(program);
  addNodeCommands(program);
  addAuditCommands(program);
  addAlertCommands(program);
  addConfigCommands(program);
  addImportCommands(program);
  addStoreCommands(program);
  addUpstreamCommands(program);
  addExportCommands(program);
  addUserCommands(program);
  addCompletionCommand(program);
  return program;
}

export function oneLine(text: string): string {
  return printable(text.trim().replaceAll(/\s*\n\s*/g, " "));
}
