/** `tollgate config check`: says whether a settings file is right, without a gateway. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { print, printable } from "./print.js";

export function addConfigCommands(program: Command): void {
  const config = program.command("config").description("check a settings file");
  config
    .command("check")
    .description("read a settings file, list what is wrong with line and column, and exit with 3 where anything is")
    .argument("[file]", "the file (default: TOLLGATE_CONFIG, or tollgate.yaml)")
    .option("--json", "print JSON")
    .action(check);
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
