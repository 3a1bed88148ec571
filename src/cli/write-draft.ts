/** Writes settings that were made from another program's, once what cannot be served is out of them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../config/config-error.js";
import type { Draft } from "../import/draft.js";
import type { SoldModel } from "../serve/sold-models.js";
import { CommandFailure } from "./failure.js";
import { printable, printPart, remark } from "./print.js";
import { formatSold } from "./sold-models.js";

/** Writes the settings, to standard output without a file, and prints what is not carried. */
export async function writeDraft(draft: Draft, out: string | undefined, source: string): Promise<void> {
  const { renderDraft } = await import("../import/draft.js");
  const sold = await leaveUnservedOut(draft);
  const text = renderDraft(draft, source);
  if (out === undefined) printPart(text);
  else writeNew(out, text);
  for (const { what, reason } of draft.notes) remark(printable(`${what}: ${reason}`));
  if (sold.length > 0) remark(formatSold(sold));
  remark(`${draft.upstreams.size} upstreams and ${draft.models.size} models; ${draft.notes.length} remarks.`);
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
