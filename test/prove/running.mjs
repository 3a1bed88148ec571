/** Runs a command of a part: in a group of processes that ends as one, to the terminal and to a log. */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** How long a group may take to end by itself before it is killed. */
const END_MS = 10_000;
/** A probe answers at once; on a busy machine it may take its time. */
const PROBE_MS_MAX = 60_000;
/** Three attempts of a slow registry. */
const INSTALL_MS_MAX = 2_000_000;

/**
 * What must be on the machine. `probe` ends with 0 where it is; where it is not, `install` is run. A need without a
 * probe has an `install` that does nothing where the machine meets it, and ends with 0 only then.
 *
 * @typedef {{
 *   readonly name: string;
 *   readonly probe?: readonly string[];
 *   readonly install?: readonly string[];
 * }} Need
 */

/**
 * @typedef {{
 *   readonly command: readonly string[];
 *   readonly env?: Readonly<Record<string, string>>;
 *   readonly needs?: readonly Need[];
 * }} Task
 */

/**
 * Runs a task to its end. `stopped` is the end by the signal, `over` the end by the bound.
 * @param {Task} task
 * @param {{ readonly root: string, readonly log: string, readonly msMax: number, readonly signal: AbortSignal }} where
 * @returns {Promise<{ readonly end: "passed" | "failed" | "stopped" | "over", readonly seconds: number }>}
 */
export async function runTask({ command, env = {} }, { root, log, msMax, signal }) {
  const startedMs = performance.now();
  mkdirSync(dirname(log), { recursive: true });
  const file = createWriteStream(log);
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what it starts ends with it.
    detached: true,
  });
  for (const [from, to] of /** @type {const} */ ([
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]))
    from.on("data", (bytes) => {
      to.write(bytes);
      file.write(bytes);
    });
  /** @type {"stopped" | "over" | undefined} */
  let ended;
  /** @type {NodeJS.Timeout | undefined} */
  let killing;
  const end = (/** @type {"stopped" | "over"} */ why) => {
    if (ended !== undefined) return;
    ended = why;
    endGroup(child.pid, "SIGTERM");
    killing = setTimeout(() => endGroup(child.pid, "SIGKILL"), END_MS);
  };
  const onAbort = () => end("stopped");
  const bound = setTimeout(() => end("over"), msMax);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  const code = await new Promise((resolve) => {
    child.once("error", (error) => {
      file.write(`${error.message}\n`);
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    child.once("close", resolve);
    // Something that the command left behind may hold its output open.
    child.once("exit", () => {
      clearTimeout(killing);
      killing = setTimeout(() => {
        endGroup(child.pid, "SIGKILL");
        child.stdout.destroy();
        child.stderr.destroy();
      }, END_MS);
    });
  });
  clearTimeout(bound);
  clearTimeout(killing);
  signal.removeEventListener("abort", onAbort);
  await new Promise((resolve) => void file.end(resolve));
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  return { end: ended ?? (code === 0 ? "passed" : "failed"), seconds };
}

/** @param {number | undefined} pid @param {NodeJS.Signals} signal */
function endGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}

/**
 * The needs that the machine does not meet, also after an install.
 * @param {readonly Need[]} needs
 * @param {string} root
 */
export function missingNeeds(needs, root) {
  const succeeds = (/** @type {readonly string[]} */ [program = "", ...args], /** @type {object} */ options) =>
    spawnSync(program, args, { cwd: root, ...options }).status === 0;
  return needs.filter(({ probe, install }) => {
    const isThere = () => probe !== undefined && succeeds(probe, { stdio: "ignore", timeout: PROBE_MS_MAX });
    if (isThere()) return false;
    if (install === undefined) return true;
    const isInstalled = succeeds(install, { stdio: ["ignore", "inherit", "inherit"], timeout: INSTALL_MS_MAX });
    return probe === undefined ? !isInstalled : !isThere();
  });
}
