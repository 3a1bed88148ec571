/**
 * Compares the pinned SDKs, agents and frameworks that the tests run as clients with what the registry has now, and
 * prints each that is behind. Ends with 1 where one is a major version behind. With `--run` what is newer is installed
 * over the pins, and the tests that run them as clients are run.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { askAgain } from "../prove/registry.mjs";
import { behind, clientsIn, isMajor } from "./pins.mjs";

/** Where clients are pinned: what a manifest's `clients` names, else all that it depends on. */
const MANIFESTS = ["package.json", "test/agents/package.json", "test/frameworks/package.json"];
const TESTS = ["test/conformance", "test/flow", "test/wire"];

/** @param {string} name */
function newest(name) {
  return askAgain(() => {
    const { status, stdout, stderr } = spawnSync("npm", ["view", name, "version"], {
      encoding: "utf8",
      timeout: 60_000,
    });
    if (status !== 0) throw new Error(`npm could not look up ${name}: ${stderr.trim()}`);
    return stdout.trim();
  });
}

/** @param {string} command @param {readonly string[]} args @param {object} [env] */
function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status !== 0) process.exitCode = 1;
}

const rows = MANIFESTS.flatMap((manifest) =>
  clientsIn(JSON.parse(readFileSync(manifest, "utf8"))).map(({ name, pinned }) => {
    return { manifest, name, pinned, newest: newest(name) };
  }),
);
const old = rows.filter(behind);
for (const row of old) {
  const { manifest, name, pinned } = row;
  process.stdout.write(`${name} ${pinned} -> ${row.newest} (${manifest})${isMajor(row) ? " MAJOR" : ""}\n`);
}
process.stdout.write(`${rows.length} clients are pinned, ${old.length} are behind the registry\n`);
if (process.argv.includes("--run") && old.length > 0) {
  for (const manifest of MANIFESTS) {
    const names = old.filter((row) => row.manifest === manifest).map((row) => `${row.name}@${row.newest}`);
    const folder = manifest.replace(/\/?package\.json$/, "") || ".";
    const args = ["install", "--save-exact", "--ignore-scripts", "--legacy-peer-deps", "--prefix", folder, ...names];
    if (names.length > 0) run("npm", folder === "." ? [...args, "--save-dev"] : [...args, "--package-lock-only"]);
  }
  run("npx", ["vitest", "run", ...TESTS]);
  run("npm", ["run", "agents"]);
} else if (old.some(isMajor)) process.exitCode = 1;
