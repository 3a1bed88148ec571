/** Packages that only these tests need: installed once a lockfile, in the cache of the user, when a person asks. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { askAgain } from "../prove/registry.mjs";

const INSTALL_MS_MAX = 600_000;
/** Gemini CLI takes the least from the registry, with the Node that it runs on. */
const ONE_AGENT = "@google/gemini-cli";
/** Pauses of 10 and 30 seconds, in each of the attempts. */
const PATIENT = ["--fetch-retries=2", "--fetch-retry-factor=3"];

/** What a package.json says of the packages. @typedef {{ dependencies: Record<string, string> }} Manifest */

/** @typedef {import("./installation.mjs").Installation} Installation */

/**
 * Finds what a folder's package-lock.json pins, and installs it where all of these tests were asked for: they are more
 * than a gigabyte, which a run of the tests is not to take. No package runs a script of its own. Throws where npm
 * could not install them.
 * @param {string} name
 * @param {URL} manifests
 * @returns {Installation}
 */
export function install(name, manifests) {
  const asked = process.env["TOLLGATE_AGENTS"];
  const folder = folderOf(name, manifests);
  if (isInstalled(folder)) return { folder };
  if (asked === "one" && isInstalled(oneOf(folder))) return { folder: oneOf(folder) };
  if (asked !== "all") return { problem: "not installed: 'npm run agents' does that" };
  installInto(folder, manifests, (manifest) => manifest);
  return { folder };
}

/**
 * Installs one agent, for `TOLLGATE_AGENTS=one`, where neither it nor all of them are there. Throws where npm could
 * not.
 * @param {URL} manifests
 */
export function installOneAgent(manifests) {
  const folder = folderOf("agents", manifests);
  if (isInstalled(folder) || isInstalled(oneOf(folder))) return;
  // The versions and hashes are those of the lockfile: npm leaves out what the manifest does not ask for.
  installInto(oneOf(folder), manifests, (manifest) => ({
    ...manifest,
    dependencies: { [ONE_AGENT]: manifest.dependencies[ONE_AGENT] ?? "" },
  }));
}

/** @param {string} name @param {URL} manifests */
function folderOf(name, manifests) {
  const lock = readFileSync(new URL("package-lock.json", manifests));
  const version = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "tollgate", `${name}-${version}`);
}

/** @param {string} folder */
function oneOf(folder) {
  return `${folder}-one`;
}

/** @param {string} folder */
function isInstalled(folder) {
  return existsSync(join(folder, "installed"));
}

/**
 * Made aside and moved when whole, so that an install that was stopped is never taken for one.
 * @param {string} folder
 * @param {URL} manifests
 * @param {(manifest: Manifest) => Manifest} choose
 */
function installInto(folder, manifests, choose) {
  const aside = `${folder}.${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    const manifest = JSON.parse(readFileSync(new URL("package.json", manifests), "utf8"));
    writeFileSync(join(aside, "package.json"), JSON.stringify(choose(manifest)));
    cpSync(new URL("package-lock.json", manifests), join(aside, "package-lock.json"));
    askAgain(() => runNpm(aside));
    writeFileSync(join(aside, "installed"), "");
    if (!existsSync(folder)) renameSync(aside, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function runNpm(folder) {
  // Not `ci`, which refuses a lock without the packages of platforms that the registry does not have.
  const args = [
    "install",
    "--no-save",
    "--ignore-scripts",
    "--legacy-peer-deps",
    "--no-audit",
    "--no-fund",
    ...PATIENT,
  ];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, timeout: INSTALL_MS_MAX, encoding: "utf8" });
  if (status === 0) return;
  // Who asked for all of them is not told that all is well when none of them ran.
  throw new Error(`npm could not install the packages of ${folder}: ${stderr?.trim() || "it took too long"}`);
}
