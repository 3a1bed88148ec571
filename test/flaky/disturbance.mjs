/** What makes the machine of a run worse: busy loops beside it, slow syncs and a clock that drifts and jumps. */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PREFIX = "tollgate-flaky-";
const HOG = fileURLToPath(new URL("hog.mjs", import.meta.url));
const SOURCE = fileURLToPath(new URL("disturb.c", import.meta.url));

/** A directory for what the command makes, which other users can read: PostgreSQL may run as one. */
export function makeDirectory() {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
    // Of a command that was killed.
    if (!Number.isNaN(pid) && !isAlive(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(directory, 0o755);
  return directory;
}

/**
 * Compiles the library that `LD_PRELOAD` takes, or says why there is none.
 * @param {string} directory
 * @param {readonly string[]} [options] More options of the compiler.
 * @returns {{ library: string } | { missing: string }}
 */
export function compileDisturbance(directory, options = []) {
  if (process.platform !== "linux") return { missing: `they take Linux, and this is ${process.platform}` };
  const compiler = process.env["CC"] ?? "cc";
  const library = join(directory, "disturb.so");
  const flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", ...options, "-o", library, SOURCE, "-ldl"];
  const { status, stderr, error } = spawnSync(compiler, flags, { encoding: "utf8" });
  if (error !== undefined) return { missing: `they take a C compiler, and ${compiler} is none (${error.message})` };
  if (status !== 0) return { missing: `${compiler} does not compile ${SOURCE}: ${stderr.trim().split("\n")[0]}` };
  chmodSync(library, 0o755);
  // Where another C library runs Node than the compiler links for, the loader says so and goes on without it.
  const tried = spawnSync(process.execPath, ["-e", ""], { env: { LD_PRELOAD: library }, encoding: "utf8" });
  return tried.status === 0 && tried.stderr === ""
    ? { library }
    : { missing: `Node does not load what ${compiler} makes: ${tried.stderr.trim().split("\n")[0]}` };
}

/**
 * The variables of a run. `FLAKY_RUN` is in each of its processes; the library takes its seed from it.
 * @param {string | undefined} library
 * @param {string} run
 */
export function variablesOf(library, run) {
  const others = process.env["LD_PRELOAD"] ?? "";
  const preload = [library, others].filter(Boolean).join(":");
  return { FLAKY_RUN: run, ...(library === undefined ? {} : { LD_PRELOAD: preload }) };
}

/** Starts busy loops. They end with this process. @param {number} count */
export function startHogs(count) {
  return Array.from({ length: count }, () => spawn(process.execPath, [HOG, String(process.pid)], { stdio: "ignore" }));
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH";
  }
}
