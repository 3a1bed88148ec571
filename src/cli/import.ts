/** `tollgate import`: settings made from those of other programs, without a gateway. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { ConfigError } from "../config/config-error.js";
import type { Draft } from "../import/draft.js";
import { CommandFailure } from "./failure.js";
import type { SoldModel } from "../serve/sold-models.js";
import { printPart, printable, remark } from "./print.js";
import { formatSold } from "./sold-models.js";

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
}

async function run(file: string, out: string | undefined, read: (text: string) => Draft): Promise<void> {
  const draft = readDraft(file, read);
  const { renderDraft } = await import("../import/draft.js");
  const sold = await leaveUnservedOut(draft);
  const text = renderDraft(draft, basename(file));
  if (out === undefined) printPart(text);
  else writeNew(out, text);
  for (const { what, reason } of draft.notes) remark(printable(`${what}: ${reason}`));
  if (sold.length > 0) remark(formatSold(sold));
  remark(`${draft.upstreams.size} upstreams and ${draft.models.size} models; ${draft.notes.length} remarks.`);
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

/**
 * A model whose price nobody knows would be refused at the start, so it is told rather than written. Resolves with what
 * the others are sold at.
 */
async function leaveUnservedOut(draft: Draft): Promise<readonly SoldModel[]> {
  const { renderDraft, placeholders, setAside } = await import("../import/draft.js");
  const { modelsOfFile } = await import("../serve/settings-check.js");
  const directory = mkdtempSync(join(tmpdir(), "tollgate-import-"));
  try {
    const path = join(directory, "tollgate.yaml");
    writeFileSync(path, renderDraft(draft, "it"));
    const { unserved, sold } = await modelsOfFile(path, placeholders(draft), "tollgate.yaml");
    for (const { id, rule } of unserved) setAside(draft, id, `it ${rule}`);
    return sold;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const problem of error.problems)
      draft.notes.push({ what: "the result", reason: `needs your hand before it is right: ${problem}` });
    return [];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (error) {
    const exists = error instanceof Error && "code" in error && error.code === "EEXIST";
    const problem = exists ? "exists, and is not written over: name another file" : "cannot be written";
    throw new CommandFailure(`${printable(path)} ${problem}`, "unknown", { cause: error });
  }
}
