/** Which test files are run against mutants, and in which order. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { importsOf, tiersOf } from "../support/tiers.mjs";

/** It would run itself. */
const OWN = "test/mutants/";

/**
 * The tests that run folders of the program in their own process: those of the same names, and all others that import
 * them and start nothing.
 *
 * @param {string} root
 * @param {readonly string[]} folders
 * @param {readonly string[]} parts Of paths; none is all.
 */
export function nearTests(root, folders, parts) {
  const { unit, platform } = tiersOf(root);
  const light = new Set(unit);
  const isOfFolder = (/** @type {string} */ file) => folders.some((folder) => file.startsWith(`test/${folder}/`));
  const imports = importClosures(root);
  const isImporting = (/** @type {string} */ file) =>
    light.has(file) && folders.some((folder) => [...imports(file)].some((path) => path.startsWith(`src/${folder}/`)));
  return chosen([...unit, ...platform], parts).filter((file) => isOfFolder(file) || isImporting(file));
}

/**
 * All other tests of `npm test`.
 *
 * @param {string} root
 * @param {readonly string[]} near
 * @param {readonly string[]} parts
 */
export function farTests(root, near, parts) {
  const { unit, platform } = tiersOf(root);
  return chosen([...unit, ...platform], parts).filter((file) => !near.includes(file));
}

/** @param {readonly string[]} files @param {readonly string[]} parts */
function chosen(files, parts) {
  return files.filter(
    (file) => !file.startsWith(OWN) && (parts.length === 0 || parts.some((part) => file.includes(part))),
  );
}

/** @param {string} root */
function importClosures(root) {
  /** @type {Map<string, readonly string[]>} */
  const known = new Map();
  const importsOfFile = (/** @type {string} */ path) => {
    const found = known.get(path) ?? (existsSync(`${root}/${path}`) ? importsOf(root, path) : []);
    known.set(path, found);
    return found.filter((name) => /^(src|test)\/.*\.ts$/.test(name));
  };
  return (/** @type {string} */ file) => {
    const seen = new Set([file]);
    for (const path of seen) for (const name of importsOfFile(path)) seen.add(name);
    return seen;
  };
}

/**
 * Those that should notice a mutant first: the test of the same name, the tests of the same folder, and of those the
 * ones that take the least time.
 *
 * @param {Iterable<string>} files
 * @param {{ file: string; folder: string }} mutant
 * @param {(file: string) => number} secondsOf
 */
export function inOrder(files, mutant, secondsOf) {
  const name = basename(mutant.file, ".ts");
  const rank = (/** @type {string} */ file) => {
    if (!file.startsWith(`test/${mutant.folder}/`)) return 2;
    return basename(file, ".test.ts") === name ? 0 : 1;
  };
  return [...files].toSorted((one, other) => rank(one) - rank(other) || secondsOf(one) - secondsOf(other));
}
