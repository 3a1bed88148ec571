/** What a run left behind: processes that outlive it, and directories that nothing removes. Processes take Linux. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LOOK_EVERY_MS = 200;
const COMMAND_LENGTH_MAX = 120;
/** The part of the name of a temporary directory that is another one in each run. */
const VARYING = /(tollgate(?:-[a-z]+)*-)\w+/g;

/** Why processes cannot be looked for here; undefined where they can. */
export const PROCESSES_MISSING =
  process.platform === "linux" ? undefined : `it takes Linux, and this is ${process.platform}`;

/**
 * @typedef {object} Run
 * @property {number} pid The process that leads the run's session.
 * @property {string} run What its `FLAKY_RUN` says.
 * @property {ReadonlySet<string>} before The directories of tests before it.
 */

/**
 * Waits until nothing of a run is left, for so long at most, and names what is. The processes are ended.
 * @param {Run} run
 * @param {number} waitMs
 */
export async function leftBehind(run, waitMs) {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const processes = processesOf(run);
    const directories = directoriesOf(run);
    if (processes.length + directories.length === 0) return [];
    if (performance.now() > deadlineMs) {
      endAll(processes);
      return [...processes.map(({ command }) => `process ${command}`), ...directories].map((what) => ({
        name: `left behind: ${what.replaceAll(VARYING, "$1*")}`,
        error: `${what} outlives the run`,
      }));
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Ends the processes of a run. @param {Run} run */
export function endRun(run) {
  endAll(processesOf(run));
}

/** The directories of tests that are there, by path, where `test/support/quick-directory.ts` makes them. */
export function testDirectories() {
  const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const names = readdirSync(root).filter((name) => name.startsWith("tollgate-") && !name.startsWith("tollgate-flaky-"));
  return new Set(names.map((name) => join(root, name)));
}

/**
 * A process is of the run by the session that the run leads, or by the variable: no detached process has the first,
 * and none with an environment of its own the second.
 * @param {Run} run
 */
function processesOf({ pid, run }) {
  if (PROCESSES_MISSING !== undefined) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        // A zombie has ended; only its parent did not ask how.
        if (state === "Z" || state === "X") return [];
        if (Number(session) !== pid && !hasVariable(name, run)) return [];
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        return [{ pid: Number(name), command: command.slice(0, COMMAND_LENGTH_MAX) }];
      } catch {
        // It has ended in between.
        return [];
      }
    });
}

/** @param {string} pid @param {string} run */
function hasVariable(pid, run) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`FLAKY_RUN=${run}`);
  } catch {
    // Of another user.
    return false;
  }
}

/**
 * The name of a directory says the process of its run, or nothing. The latter are of this run where no other one goes
 * on beside it.
 * @param {Run} run
 */
function directoriesOf({ pid, before }) {
  const all = [...testDirectories()].map((path) => ({ path, of: /-(?:run|postgres)-(\d+)$/.exec(path)?.[1] }));
  const isAlone = all.every(({ of }) => of === undefined || of === String(pid) || !existsSync(`/proc/${of}`));
  return all
    .filter(({ path, of }) => (of === undefined ? isAlone && !before.has(path) : of === String(pid)))
    .map(({ path }) => path);
}

/** @param {readonly { pid: number }[]} processes */
function endAll(processes) {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended in between.
    }
  }
}
