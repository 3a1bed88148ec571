/** `tollgate config`: says whether a settings file is right, what may stand in it, and what one would say. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { SettingsServiceService } from "../api/index.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { formatTable, print, printable, printPart } from "./print.js";
import { formatSold, soldJson } from "./sold-models.js";

/** Without `manage`: what a file changes nothing of, and what does. */
const MADE_ONCE =
  "Accounts and keys are made from a file once: the file never changes one that exists. To change one, use " +
  "'tollgate account update' or 'tollgate key update'. One that you remove from the file continues to work until " +
  "'tollgate account freeze' or 'tollgate key revoke' stops it.";

const MANAGED =
  "Each start and reload changes accounts and keys to what this file says. One that you remove from the file is " +
  "disabled until the file has it again: an account is frozen, a key is revoked.";

export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("check and export settings files, and print their schema");
  config
    .command("check")
    .description("check a settings file and list every error with line and column; exits with 3 if there is one")
    .argument("[file]", "the file (default: TOLLGATE_CONFIG, or tollgate.yaml)")
    .option("--json", "print JSON")
    .action(check);
  config
    .command("schema")
    .description("print the JSON Schema of settings files, for editors")
    .action(async () => {
      const { editorSchema } = await import("../config/editor-schema.js");
      const { FAMILY_NAMES } = await import("../serve/settings-check.js");
      print(JSON.stringify(editorSchema(FAMILY_NAMES), null, 2));
    });
  config
    .command("variables")
    .description("list the environment variables that the gateway and its commands read")
    .option("--json", "print JSON")
    .action(async (options: { json?: true }) => {
      const { variables } = await import("../config/variables.js");
      const rows = variables().map(({ name, default: value, description }) => [name, value ?? "", description]);
      print(options.json ? JSON.stringify(variables(), null, 2) : formatTable(["variable", "default", "what"], rows));
    });
  withConnection(
    config
      .command("export")
      .description("print the accounts, keys and alerts of a running gateway as a settings file, without secrets")
      .addHelpText("after", "\nExample:\n  tollgate config export > tollgate-export.yaml"),
  ).action(exported);
}

async function exported(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = SettingsServiceService.exportSettings;
    const answer = await connection.call(method, {});
    if (options.json) connection.show(method, answer, () => "");
    else printPart(answer.content);
  });
}

async function check(file: string | undefined, options: { json?: true }): Promise<void> {
  // Loaded only here, so that other commands start at once.
  const { checkSettingsFile } = await import("../serve/settings-check.js");
  const path = file ?? (process.env["TOLLGATE_CONFIG"] || "tollgate.yaml");
  const { settings, sold } = await checkSettingsFile(resolve(path), process.env, path);
  const counts = {
    upstreams: settings.upstreams.length,
    models: settings.models.length,
    accounts: settings.accounts.length,
    keys: settings.keys.length,
  };
  const summary = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  if (options.json) return print(JSON.stringify({ ...counts, sold: sold.map(soldJson) }, null, 2));
  print(`${printable(path)} is right: ${summary.join(", ")}.`);
  if (sold.length > 0) print(formatSold(sold));
  if (counts.accounts + counts.keys > 0) print(settings.manage ? MANAGED : MADE_ONCE);
}
