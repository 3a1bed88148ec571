/**
 * The tests that keep state, once more: on PostgreSQL and Redis, which `npm test` runs on the embedded database. What a
 * client sees must be the same. Run: `npm run test:backends [-- FILE...]`.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ONE_BACKEND } from "./one-backend.mjs";
import { statefulTests } from "./stateful.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

const asked = process.argv.slice(2);
const all = statefulTests(root).chosen.filter((file) => !(file in ONE_BACKEND));
const isAsked = (/** @type {string} */ file) => asked.length === 0 || asked.some((part) => file.includes(part));
const files = all.filter(isAsked);
const unknown = asked.filter((part) => !all.some((file) => file.includes(part)));
if (unknown.length > 0) {
  process.stderr.write(`no test that keeps state and runs on both backends is called ${unknown.join(" or ")}\n`);
  process.exit(2);
}
say(`PostgreSQL and Redis: ${files.length} test files`);
const startedMs = performance.now();
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...files], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, TOLLGATE_TEST_STORE: "postgres" },
});
if (files.length < all.length)
  say(`\nNOT RUN: ${all.length - files.length} of ${all.length} test files were not asked for.`);
const own = Object.entries(ONE_BACKEND);
say(`\nNOT RUN: ${own.length} test files do not run on another backend than their own:`);
for (const [file, why] of own) say(`  ${file}: ${why}`);
say(`\n${status === 0 ? "green" : "RED"} in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
process.exitCode = status ?? 1;
