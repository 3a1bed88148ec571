/** Which tests a change touches, by the imports of the files and by the folders they mirror. */
import { existsSync } from "node:fs";
import { importsOf, tiersOf } from "../support/tiers.mjs";

/**
 * The test files to run for these changed files, as paths from the root. A folder of src/ is mirrored in test/, and
 * all tests of a changed folder count. Unit tests count also where they import a changed file through others. Tests
 * that reach the program through a running gateway import nothing of it, and are left to `npm test`.
 * @param {string} root @param {readonly string[]} changed
 */
export function touchedTests(root, changed) {
  const { unit, platform } = tiersOf(root);
  const folders = new Set(changed.map((path) => /^(?:src\/|test\/|(?=console\/))(.+)\//.exec(path)?.[1] ?? ""));
  const isMirrored = (/** @type {string} */ file) => folders.has(/^test\/(.+)\//.exec(file)?.[1] ?? "none");
  const reaches = reachesOneOf(root, new Set(changed));
  return [
    ...unit.filter((file) => isMirrored(file) || reaches(file)),
    ...platform.filter((file) => isMirrored(file) || changed.includes(file)),
  ];
}

/** @param {string} root @param {ReadonlySet<string>} changed */
function reachesOneOf(root, changed) {
  /** @type {Map<string, readonly string[]>} */
  const imports = new Map();
  const ofTree = (/** @type {string} */ path) => {
    const known = imports.get(path);
    if (known !== undefined) return known;
    const isOfTree = (/** @type {string} */ name) =>
      /^(src|test|gen|console)\/.*\.(ts|mjs)$/.test(name) && existsSync(`${root}${name}`);
    const found = importsOf(root, path).filter(isOfTree);
    imports.set(path, found);
    return found;
  };
  return (/** @type {string} */ file) => {
    const seen = new Set([file]);
    for (const path of seen) {
      if (changed.has(path)) return true;
      for (const name of ofTree(path)) seen.add(name);
    }
    return false;
  };
}
