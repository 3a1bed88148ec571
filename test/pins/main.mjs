/**
 * Compares the pinned SDKs, agents and frameworks that the tests run as clients with what their registries have now,
 * and prints each that is behind. Ends with 1 where one is a major version behind. With `--run` what is newer is
 * installed over the pins, and the tests that run them as clients are run.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { pythonFor, PIP } from "../agents/python.mjs";
import { askAgain } from "../prove/registry.mjs";
import { behind, clientsIn, isMajor, MANIFESTS, pythonClientsIn, REQUIREMENTS } from "./pins.mjs";

const TESTS = ["test/conformance", "test/flow", "test/wire"];
const LOOK_UP_MS_MAX = 60_000;

/** @param {string} name */
function newestOfNpm(name) {
  return lookUp(name, "npm", ["view", name, "version"]);
}

/** @param {string} name */
function newestOfPython(name) {
  const told = lookUp(name, python, [...PIP, "index", "versions", name]);
  return /\((\S+)\)/.exec(told)?.[1] ?? "";
}

/** @param {string} name @param {string} command @param {readonly string[]} args */
function lookUp(name, command, args) {
  return askAgain(() => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", timeout: LOOK_UP_MS_MAX });
    if (status !== 0) throw new Error(`${command} could not look up ${name}: ${stderr.trim()}`);
    return stdout.trim();
  });
}

/** @param {string} command @param {readonly string[]} args @param {object} [env] */
function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) process.exitCode = 1;
}

/** @param {string} manifest @param {typeof rows} newer */
function pinNpm(manifest, newer) {
  const names = newer.map((row) => `${row.name}@${row.newest}`);
  const folder = manifest.replace(/\/?package\.json$/, "") || ".";
  const args = ["install", "--save-exact", "--ignore-scripts", "--legacy-peer-deps", "--prefix", folder, ...names];
  run("npm", folder === "." ? [...args, "--save-dev"] : [...args, "--package-lock-only"]);
}

/** @param {string} manifest @param {typeof rows} newer */
function pinPython(manifest, newer) {
  const lines = newer.reduce(
    (text, { name, pinned, newest }) => text.replace(`${name}==${pinned}\n`, `${name}==${newest}\n`),
    readFileSync(manifest, "utf8"),
  );
  writeFileSync(manifest, lines);
  run("node", ["test/frameworks/python/lock.mjs", manifest.split("/").at(-2) ?? ""]);
}

const python = pythonFor({ from: 11, below: 15 });
const rows = [
  ...MANIFESTS.flatMap((manifest) =>
    clientsIn(JSON.parse(readFileSync(manifest, "utf8"))).map(({ name, pinned }) => {
      return { manifest, pin: pinNpm, name, pinned, newest: newestOfNpm(name) };
    }),
  ),
  ...REQUIREMENTS.flatMap((manifest) =>
    pythonClientsIn(readFileSync(manifest, "utf8")).map(({ name, pinned }) => {
      return { manifest, pin: pinPython, name, pinned, newest: newestOfPython(name) };
    }),
  ),
];
const old = rows.filter(behind);
for (const row of old) {
  const { manifest, name, pinned } = row;
  process.stdout.write(`${name} ${pinned} -> ${row.newest} (${manifest})${isMajor(row) ? " MAJOR" : ""}\n`);
}
process.stdout.write(`${rows.length} clients are pinned, ${old.length} are behind the registries\n`);
if (process.argv.includes("--run") && old.length > 0) {
  for (const manifest of new Set(old.map((row) => row.manifest))) {
    const newer = old.filter((row) => row.manifest === manifest);
    newer[0]?.pin(manifest, newer);
  }
  run("npx", ["vitest", "run", ...TESTS]);
  run("npm", ["run", "agents"]);
} else if (old.some(isMajor)) process.exitCode = 1;
