/**
 * The tests that touch the platform, under the other versions of Node: each comes from npm into a cache outside the
 * project. Run: `npm run test:nodes [-- --node 26] [FILE...]`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { splitTests } from "./touching.mjs";

const VERSIONS = ["22.23.3", "24.9.0", "26.10.0"];

const root = fileURLToPath(new URL("../../", import.meta.url));
const cache = process.env["TOLLGATE_NODES_CACHE"] ?? join(homedir(), ".cache", "tollgate-nodes");
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, bin: string, quiet?: boolean }} where
 */
function run(command, args, { cwd, bin, quiet = false }) {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  const ended = spawnSync(command, args, { cwd, env, stdio: quiet ? "pipe" : "inherit", encoding: "utf8" });
  if (quiet && ended.status !== 0) throw new Error(`${command} ${args.join(" ")}\n${ended.stdout}${ended.stderr}`);
  return ended.status;
}

/** @param {string} version Of Node; returns the folder of its binary. */
function installNode(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const directory = join(cache, version);
  const installed = join(directory, "node_modules", name);
  if (!existsSync(join(installed, "bin", "node"))) {
    say(`Node ${version}: installing it from npm into ${directory}`);
    mkdirSync(directory, { recursive: true });
    const args = ["install", "--prefix", directory, "--no-audit", "--no-fund", "--no-save", `${name}@${version}`];
    run("npm", args, { cwd: directory, bin: "", quiet: true });
  }
  return installed;
}

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
const isAsked = (/** @type {string} */ version) =>
  values.node.length === 0 || values.node.some((asked) => version === asked || version.startsWith(`${asked}.`));
const { touching, other } = splitTests(root);
const files = positionals.length > 0 ? positionals : touching;
try {
  const results = VERSIONS.filter(isAsked).map((version) => testOn(version, files));
  if (positionals.length > 0) {
    const isAskedFor = (/** @type {string} */ file) => positionals.some((asked) => file.includes(asked));
    const count = touching.filter((file) => !isAskedFor(file)).length;
    say(`\nNOT RUN: ${count} of the ${touching.length} test files that touch the platform: they were not asked for.`);
  } else {
    say(`\nNOT RUN: ${other.length} of ${touching.length + other.length} test files reach nothing of the platform:`);
    other.forEach((file) => say(`  ${file}`));
  }
  say(`\n${results.map(({ line }) => line).join("\n")}`);
  process.exitCode = results.length > 0 && results.every(({ isGreen }) => isGreen) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
