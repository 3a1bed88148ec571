/** Packages that only these tests need: installed once a lockfile, in the cache of the user, when a person asks. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const INSTALL_MS_MAX = 600_000;

export type Installation = { readonly folder: string } | { readonly problem: string };

/**
 * Finds what a folder's package-lock.json pins, and installs it where all of these tests were asked for: they are more
 * than a gigabyte, which a run of the tests is not to take. No package runs a script of its own. Throws where npm
 * could not install them.
 */
export function install(name: string, manifests: URL): Installation {
  const lock = readFileSync(new URL("package-lock.json", manifests));
  const version = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "tollgate", `${name}-${version}`);
  if (existsSync(join(folder, "installed"))) return { folder };
  if (process.env["TOLLGATE_AGENTS"] !== "all") return { problem: "not installed: 'npm run agents' does that" };
  // Made aside and moved when whole, so that an install that was stopped is never taken for one.
  const aside = `${folder}.${process.pid}`;
  mkdirSync(aside, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) cpSync(new URL(file, manifests), join(aside, file));
  const { status, stderr } = spawnSync(
    "npm",
    // Not `ci`, which refuses a lock without the packages of platforms that the registry does not have.
    ["install", "--no-save", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"],
    {
      cwd: aside,
      timeout: INSTALL_MS_MAX,
      encoding: "utf8",
    },
  );
  if (status !== 0) {
    rmSync(aside, { recursive: true, force: true });
    // Who asked for all of them is not told that all is well when none of them ran.
    throw new Error(`npm could not install the packages of test/${name}: ${stderr.trim() || "it took too long"}`);
  }
  writeFileSync(join(aside, "installed"), "");
  if (!existsSync(folder)) renameSync(aside, folder);
  return { folder };
}
