/** `tollgate import`: settings made from those of other programs, without a gateway. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import type { Draft } from "../import/draft.js";
import { CommandFailure } from "./failure.js";
import { addLiteLlmDatabaseCommand } from "./import-litellm.js";
import { printable } from "./print.js";
import { writeDraft } from "./write-draft.js";

const KINDS = {
  litellm: {
    what: "a LiteLLM proxy's config.yaml",
    read: async () => (await import("../import/litellm.js")).importLiteLlm,
  },
  "openrouter-prices": {
    what: "OpenRouter's list of models, saved from GET https://openrouter.ai/api/v1/models",
    read: async () => (await import("../import/openrouter-prices.js")).importOpenRouterPrices,
  },
} as const;

export function addImportCommands(program: Command): void {
  const group = program.command("import").description("create a settings file from the settings of another program");
  for (const [name, { what, read }] of Object.entries(KINDS)) {
    group
      .command(name)
      .description(`create a settings file from ${what}; prints what cannot be converted, and why`)
      .argument("<file>", "the file to read")
      .option("--out <file>", "the file to write, which must not exist (default: standard output)")
      .action(async (file: string, options: { out?: string }) => run(file, options.out, await read()));
  }
  addLiteLlmDatabaseCommand(group);
}

async function run(file: string, out: string | undefined, read: (text: string) => Draft): Promise<void> {
  await writeDraft(readDraft(file, read), out, basename(file));
}

function readDraft(file: string, read: (text: string) => Draft): Draft {
  try {
    return read(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandFailure(
      `${printable(file)}: ${error instanceof Error ? error.message : String(error)}`,
      "settings",
      {
        cause: error,
      },
    );
  }
}
