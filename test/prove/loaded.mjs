/** Which files of the repository test files load when they run. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { importsOf } from "../support/tiers.mjs";

const CODE = /^(src|test|gen|\.ci)\/.*\.(ts|mjs)$/;
/** Most files are loaded by many. @type {Map<string, readonly string[]>} */
const known = new Map();

/**
 * The files themselves, and all that they import, one through the other.
 * @param {string} root
 * @param {readonly string[]} files
 */
export function loadedBy(root, files) {
  const found = new Set(files);
  for (const path of found) for (const name of importedBy(root, path)) found.add(name);
  return [...found];
}

/** @param {string} root @param {string} path */
function importedBy(root, path) {
  const place = join(root, path);
  const before = known.get(place);
  if (before !== undefined) return before;
  const found = importsOf(root, path).filter(
    (/** @type {string} */ name) => CODE.test(name) && existsSync(join(root, name)),
  );
  known.set(place, found);
  return found;
}
