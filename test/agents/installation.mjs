/** Packages that only these tests need: installed once a lockfile, in the cache of the user, when a person asks. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { askAgain } from "../prove/registry.mjs";
import { PIP, pythonFor, WHEELS } from "./python.mjs";

const INSTALL_MS_MAX = 1_200_000;
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
  const folder = folderOf(name, new URL("package-lock.json", manifests));
  if (process.env["TOLLGATE_AGENTS"] === "one" && !isInstalled(folder) && isInstalled(oneOf(folder)))
    return { folder: oneOf(folder) };
  return installWhereAsked(folder, () =>
    installInto(
      folder,
      npmOf(manifests, (manifest) => manifest),
    ),
  );
}

/**
 * The same for what a folder's lock.txt pins of Python's packages, in an environment of their own. Wheels alone: a
 * package that is built runs its script. Throws where pip could not install them.
 * @param {string} name
 * @param {URL} manifests
 * @param {import("./python.mjs").PythonRange} range
 * @returns {Installation}
 */
export function installPython(name, manifests, range) {
  const lock = new URL("lock.txt", manifests);
  const folder = folderOf(name, lock);
  return installWhereAsked(folder, () => {
    const python = pythonFor(range);
    installInto(folder, (aside) => {
      run(python, ["-m", "venv", "--without-pip", aside], aside);
      const into = [
        "--python",
        join(aside, "bin/python"),
        "install",
        "--no-deps",
        ...WHEELS,
        "-r",
        fileURLToPath(lock),
      ];
      run(python, [...PIP, ...into], aside);
    });
  });
}

/**
 * Installs one agent, for `TOLLGATE_AGENTS=one`, where neither it nor all of them are there. Throws where npm could
 * not.
 * @param {URL} manifests
 */
export function installOneAgent(manifests) {
  const folder = folderOf("agents", new URL("package-lock.json", manifests));
  if (isInstalled(folder) || isInstalled(oneOf(folder))) return;
  // The versions and hashes are those of the lockfile: npm leaves out what the manifest does not ask for.
  const choose = (/** @type {Manifest} */ manifest) => ({
    ...manifest,
    dependencies: { [ONE_AGENT]: manifest.dependencies[ONE_AGENT] ?? "" },
  });
  installInto(oneOf(folder), npmOf(manifests, choose));
}

/** @param {string} name @param {URL} lock */
function folderOf(name, lock) {
  const version = createHash("sha256").update(readFileSync(lock)).digest("hex").slice(0, 16);
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

/** @param {string} folder @param {() => void} installAll @returns {Installation} */
function installWhereAsked(folder, installAll) {
  if (!isInstalled(folder)) {
    if (process.env["TOLLGATE_AGENTS"] !== "all") return { problem: "not installed: 'npm run agents' does that" };
    installAll();
  }
  return { folder };
}

/**
 * Made aside and moved when whole, so that an install that was stopped is never taken for one.
 * @param {string} folder
 * @param {(aside: string) => void} fill
 */
function installInto(folder, fill) {
  const aside = `${folder}.${process.pid}`;
  mkdirSync(aside, { recursive: true });
  try {
    fill(aside);
    writeFileSync(join(aside, "installed"), "");
    if (!existsSync(folder)) renameSync(aside, folder);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/**
 * @param {URL} manifests
 * @param {(manifest: Manifest) => Manifest} choose
 * @returns {(aside: string) => void}
 */
function npmOf(manifests, choose) {
  return (aside) => {
    const manifest = JSON.parse(readFileSync(new URL("package.json", manifests), "utf8"));
    writeFileSync(join(aside, "package.json"), JSON.stringify(choose(manifest)));
    cpSync(new URL("package-lock.json", manifests), join(aside, "package-lock.json"));
    // Not `ci`, which refuses a lock without the packages of platforms that the registry does not have.
    const args = ["--no-save", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", ...PATIENT];
    run("npm", ["install", ...args], aside);
  };
}

/**
 * Throws: who asked for all packages is not told that all is well when none of them ran.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} folder
 */
function run(command, args, folder) {
  askAgain(() => {
    const { status, stderr } = spawnSync(command, args, { cwd: folder, timeout: INSTALL_MS_MAX, encoding: "utf8" });
    if (status === 0) return;
    const why = stderr?.trim() || "it took too long";
    throw new Error(`${command} could not install the packages of ${folder}: ${why}`);
  });
}
