/**
 * The tests that touch the platform, under the other versions of Node: each comes from npm into a cache outside the
 * project. Run: `npm run test:nodes [-- --node 26] [FILE...]`.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installNode, run, VERSIONS } from "./install.mjs";
import { tiersOf } from "../support/tiers.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/** @param {string} version @param {string[]} files */
function testOn(version, files) {
  const node = installNode(version);
  const bin = join(node, "bin");
  const startedMs = performance.now();
  say(`\nNode ${version}: ${files.length} test files`);
  const status = run(join(bin, "node"), ["node_modules/vitest/vitest.mjs", "run", ...files], { cwd: root, bin });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  return { line: `Node ${version}: ${status === 0 ? "green" : "RED"} in ${seconds} s`, isGreen: status === 0 };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true, default: [] } },
});
const lineOf = (/** @type {string} */ version) => version.split(".")[0];
// The suite itself runs on this one's line.
const isAsked = (/** @type {string} */ version) =>
  (values.node.length === 0 && lineOf(version) !== lineOf(process.versions.node)) ||
  values.node.some((asked) => version === asked || version.startsWith(`${asked}.`));
const { platform: suite, unit, prove } = tiersOf(root);
/** Foreign clients are the same whatever Node serves them. */
const FOREIGN = /^test\/(agents|clients|cluster|frameworks|kill-loop|money)\//;
const platform = [...suite, ...prove.filter((file) => !FOREIGN.test(file))];
const files = positionals.length > 0 ? positionals : platform;
try {
  const results = VERSIONS.filter(isAsked).map((version) => testOn(version, files));
  if (positionals.length > 0) {
    const isAskedFor = (/** @type {string} */ file) => positionals.some((asked) => file.includes(asked));
    const count = platform.filter((file) => !isAskedFor(file)).length;
    say(`\nNOT RUN: ${count} of the ${platform.length} test files that touch the platform: they were not asked for.`);
  } else {
    say(`\nNOT RUN: ${unit.length} unit tests, and the proofs of foreign clients, kills and money.`);
  }
  say(`\n${results.map(({ line }) => line).join("\n")}`);
  process.exitCode = results.length > 0 && results.every(({ isGreen }) => isGreen) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
