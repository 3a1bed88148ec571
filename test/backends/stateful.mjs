/** Which test files keep state in a database, and whose choice the database is: the run's or their own. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { importsOf, testFiles } from "../support/tiers.mjs";

/** Whoever reaches it keeps its state where `TOLLGATE_TEST_STORE` says. */
const CHOICE = "test/support/test-store.ts";
/** They open either driver, as the run or a test of both asks. What they import says nothing of who uses them. */
const EITHER = new Set(["database-behind", "open-test-store", "stores"].map((name) => `test/support/${name}.ts`));
const DRIVER = /^src\/store\/(sqlite|postgres)\//;
const OWN_DATABASE = /\bTOLLGATE_DATABASE_URL\b/;
/** Whoever asks both drivers in any run may open each by itself. */
const OF_EACH = /\b(onEachStore|STORE_DRIVERS)\b/;

/**
 * The test files that keep state: `chosen` by the run, and `own` with the file by which they choose for themselves.
 * @param {string} root
 */
export function statefulTests(root) {
  const files = testFiles(root);
  const reached = files.map((file) => ({ file, reaches: reachedFrom(root, file) }));
  const isOwn = (/** @type {string} */ path) => !EITHER.has(path) && choosesItself(root, path);
  return {
    chosen: reached.filter(({ reaches }) => reaches.has(CHOICE)).map(({ file }) => file),
    own: reached.flatMap(({ file, reaches }) => {
      if (OF_EACH.test(readFileSync(join(root, file), "utf8"))) return [];
      const by = [...reaches].find(isOwn);
      return by === undefined ? [] : [{ file, by }];
    }),
  };
}

/** @param {string} root @param {string} path */
function choosesItself(root, path) {
  if (path === CHOICE) return false;
  const names = OWN_DATABASE.test(readFileSync(join(root, path), "utf8"));
  return names || importsOf(root, path).some((name) => DRIVER.test(name));
}

/**
 * The files of the tests that a test file loads, with itself.
 * @param {string} root
 * @param {string} file
 */
function reachedFrom(root, file) {
  const found = new Set([file]);
  for (const path of found) {
    if (EITHER.has(path)) {
      found.add(CHOICE);
      continue;
    }
    for (const name of importsOf(root, path))
      if (/^test\/.*\.(ts|mjs)$/.test(name) && existsSync(join(root, name))) found.add(name);
  }
  return found;
}
