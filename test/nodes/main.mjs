/**
 * The tests that touch the platform, under the other versions of Node: each comes from npm into a cache outside the
 * project, with the database's native part built for it. Run: `npm run test:nodes [-- --node 26] [FILE...]`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { splitTests } from "./touching.mjs";

const VERSIONS = ["22.23.3", "24.9.0", "26.10.0"];
const NATIVE = "better-sqlite3";
/** What the native part needs beside it while it is built and loaded. */
const NATIVE_NEEDS = ["bindings", "file-uri-to-path", "prebuild-install"];
const LEFT_OUT = new Set(["node_modules", "dist", "data", ".git"]);

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

/** @param {string} version Of Node; returns the folder of its binary and headers. */
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

/**
 * The database's package with its native part built for this Node. Kept, since that takes minutes.
 * @param {string} version
 * @param {string} node
 */
function buildNative(version, node) {
  const source = join(root, "node_modules", NATIVE);
  const release = JSON.parse(readFileSync(join(source, "package.json"), "utf8")).version;
  const kept = join(cache, version, `${NATIVE}-${release}`);
  if (existsSync(kept)) return join(kept, "node_modules", NATIVE);
  say(`Node ${version}: building ${NATIVE} ${release} for it, once (minutes)`);
  const making = `${kept}.making`;
  rmSync(making, { recursive: true, force: true });
  const packages = join(making, "node_modules");
  mkdirSync(packages, { recursive: true });
  cpSync(join(root, "package.json"), join(making, "package.json"));
  cpSync(source, join(packages, NATIVE), { recursive: true, filter: (path) => basename(path) !== "build" });
  for (const name of NATIVE_NEEDS) symlinkSync(join(root, "node_modules", name), join(packages, name));
  const args = ["rebuild", NATIVE, "--build-from-source", `--nodedir=${node}`];
  run("npm", args, { cwd: making, bin: join(node, "bin"), quiet: true });
  const objects = ["obj", "obj.target", "sqlite3.a", "test_extension.node"];
  for (const name of objects)
    rmSync(join(packages, NATIVE, "build", "Release", name), { recursive: true, force: true });
  renameSync(making, kept);
  return join(kept, "node_modules", NATIVE);
}

/**
 * A copy of the project whose packages are this one's, but for the native part.
 * @param {string} version
 * @param {string} native
 */
function copyProject(version, native) {
  const tree = join(cache, version, "project");
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(join(tree, "node_modules"), { recursive: true });
  for (const name of readdirSync(root))
    if (!LEFT_OUT.has(name)) cpSync(join(root, name), join(tree, name), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== NATIVE && !name.startsWith(".vite"))
      symlinkSync(join(root, "node_modules", name), join(tree, "node_modules", name));
  cpSync(native, join(tree, "node_modules", NATIVE), { recursive: true });
  return tree;
}

/** @param {string} version @param {string[]} files */
function testOn(version, files) {
  const node = installNode(version);
  const tree = copyProject(version, buildNative(version, node));
  const bin = join(node, "bin");
  const startedMs = performance.now();
  say(`\nNode ${version}: ${files.length} test files`);
  const status = run(join(bin, "node"), ["node_modules/vitest/vitest.mjs", "run", ...files], { cwd: tree, bin });
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
