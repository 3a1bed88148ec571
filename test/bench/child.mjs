/** Processes of the benchmark: started with a line that says they are ready, and stopped by their id. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const READY_MS_MAX = 30_000;
const STOP_MS_MAX = 15_000;
const POLL_MS = 4;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
process.on("exit", (code) => {
  running.forEach((child) => child.kill("SIGKILL"));
  // After a failure the logs and the database are what one looks for.
  if (code === 0) rmSync(runDirectory, { recursive: true, force: true });
  else process.stderr.write(`The logs and the database of this run are in ${runDirectory}\n`);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/**
 * @typedef {object} Started
 * @property {number} pid
 * @property {Record<string, unknown>} ready The line that said it is ready.
 * @property {number} readyMs From the start of the process to that line.
 * @property {() => Promise<void>} stop Asks it to end; kills it where it does not within 15 s.
 * @property {() => string} logTail
 */

/** A directory of this run. It stays where the run failed. */
export const runDirectory = mkdtempSync(join(tmpdir(), "tollgate-bench-"));

/**
 * Starts a process whose output goes to a file and waits for the JSON line with `"msg":"ready"`. Its standard input
 * stays open as long as this process lives.
 * @param {string} name
 * @param {string[]} command
 * @param {Record<string, string>} [env] All the environment it gets, but for PATH.
 * @returns {Promise<Started>}
 */
export async function start(name, command, env = {}) {
  const logPath = join(runDirectory, `${name}-${process.hrtime.bigint()}.log`);
  const log = openSync(logPath, "w");
  const startedMs = performance.now();
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["pipe", log, log],
    env: { PATH: process.env["PATH"] ?? "", HOME: runDirectory, ...env },
  });
  closeSync(log);
  running.add(child);
  const ended = new Promise((done) => child.once("exit", done).once("error", done)).then(() => running.delete(child));
  const logTail = () => (existsSync(logPath) ? readFileSync(logPath, "utf8").slice(-3000) : "");
  const ready = await waitForReady(logPath, () => running.has(child), startedMs + READY_MS_MAX);
  if (ready === undefined) {
    child.kill("SIGKILL");
    throw new Error(`${name} did not get ready. The end of its log:\n${logTail()}`);
  }
  const stop = async () => {
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    await ended;
    clearTimeout(killer);
  };
  return { pid: child.pid ?? 0, ready, readyMs: performance.now() - startedMs, stop, logTail };
}

/**
 * @param {string} logPath
 * @param {() => boolean} lives
 * @param {number} deadlineMs
 * @returns {Promise<Record<string, unknown> | undefined>}
 */
async function waitForReady(logPath, lives, deadlineMs) {
  while (lives() && performance.now() < deadlineMs) {
    const lines = readFileSync(logPath, "utf8").split("\n");
    const line = lines.slice(0, -1).find((text) => text.includes('"msg":"ready"'));
    if (line !== undefined) return JSON.parse(line);
    await sleep(POLL_MS);
  }
  return undefined;
}
