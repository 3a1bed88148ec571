/**
 * A copy of the project whose sources hold the mutants of a sample: the sources themselves stay as they are, and the
 * program that the tests start is built with the mutants as well.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { schemataOf } from "./schemata.mjs";

const SWITCH = "src/mutant-switch.ts";
/** Not copied: packages are linked. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/**
 * @param {string} root
 * @param {readonly import("./sample.mjs").Mutant[]} sample
 * @returns {string} Where the copy is.
 */
export function makeCopy(root, sample) {
  const copy = mkdtempSync(join(tmpdir(), "tollgate-mutants-"));
  cpSync(root, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(root, path)) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  cpSync(new URL("switch.ts", import.meta.url), join(copy, SWITCH));
  for (const file of new Set(sample.map((mutant) => mutant.file))) {
    const changes = sample.filter((mutant) => mutant.file === file);
    const way = relative(dirname(file), SWITCH.replace(/\.ts$/, ".js"));
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(join(copy, file), schemataOf(text, changes, way.startsWith(".") ? way : `./${way}`));
  }
  return copy;
}

/** @param {string} copy */
export function removeCopy(copy) {
  // A process that was just killed may write its last file meanwhile.
  rmSync(copy, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
