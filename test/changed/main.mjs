/**
 * Runs what a change touches: the changed test files, the tests of each changed folder, and every unit test that
 * imports a changed file, directly or not. Run: `npm run test:changed [-- --since COMMIT]`; without COMMIT the change
 * is what is not committed.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { changedFiles } from "./changed-files.mjs";
import { touchedTests } from "./touched-tests.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({ options: { since: { type: "string", default: "HEAD" } } });
const changed = changedFiles(root, values.since);
const tests = touchedTests(root, changed);
say(`${changed.length} changed files since ${values.since} touch ${tests.length} test files`);
if (tests.length === 0) {
  say("nothing to run: `npm test` runs all, and `npm run prove -- --list` names the proofs that a change made stale");
} else {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project=!prove", ...tests];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  process.exitCode = status ?? 1;
}
