/** The other versions of Node, from npm, in a cache outside the project. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

export const NEWEST_LTS = "26.10.0";
/** One of each line that is served, from the oldest. */
export const VERSIONS = ["20.20.2", "22.23.3", "24.9.0", NEWEST_LTS];

const cache = process.env["TOLLGATE_NODES_CACHE"] ?? join(homedir(), ".cache", "tollgate-nodes");
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, bin: string, quiet?: boolean }} where
 */
export function run(command, args, { cwd, bin, quiet = false }) {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
  const ended = spawnSync(command, args, { cwd, env, stdio: quiet ? "pipe" : "inherit", encoding: "utf8" });
  if (quiet && ended.status !== 0) throw new Error(`${command} ${args.join(" ")}\n${ended.stdout}${ended.stderr}`);
  return ended.status;
}

/** @param {string} version Of Node; returns the folder of its binary. */
export function installNode(version) {
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
