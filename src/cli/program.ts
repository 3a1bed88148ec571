/** All commands of `tollgate`, with their options and help. */
import type { Command } from "commander";
import { addAccountCommands } from "./account.js";
import { addAlertCommands } from "./alert.js";
import { addAuditCommands } from "./audit.js";
import { programWithoutCommands } from "./base-program.js";
import { addCodeCommands } from "./codes.js";
import { addCompletionCommand } from "./completion.js";
import { addConfigCommands } from "./config.js";
import { addRequestCommands } from "./correction.js";
import { addEstimateCommand } from "./estimate.js";
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

export function buildProgram(): Command {
  const program = programWithoutCommands();
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
