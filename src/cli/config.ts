/** `tollgate config`: says whether a settings file is right, and what may stand in it, without a gateway. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { formatTable, print, printable } from "./print.js";

export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("check a settings file, and tell what may stand in one");
  config
    .command("check")
    .description("read a settings file, list what is wrong with line and column, and exit with 3 where anything is")
    .argument("[file]", "the file (default: TOLLGATE_CONFIG, or tollgate.yaml)")
    .option("--json", "print JSON")
    .action(check);
  config
    .command("schema")
    .description("print the JSON Schema of settings files, for editors")
    .action(async () => {
      const { editorSchema } = await import("../config/editor-schema.js");
      print(JSON.stringify(editorSchema(), null, 2));
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
}

async function check(file: string | undefined, options: { json?: true }): Promise<void> {
  // Loaded only here, so that other commands start at once.
  const { checkSettingsFile } = await import("../serve/settings-check.js");
  const path = file ?? (process.env["TOLLGATE_CONFIG"] || "tollgate.yaml");
  const settings = await checkSettingsFile(resolve(path), process.env, path);
  const counts = {
    upstreams: settings.upstreams.length,
    models: settings.models.length,
    accounts: settings.accounts.length,
    keys: settings.keys.length,
  };
  const summary = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  print(options.json ? JSON.stringify(counts, null, 2) : `${printable(path)} is right: ${summary.join(", ")}.`);
}
