/**
 * What a process and those it started have used, as Linux tells in /proc: CPU time of all threads, and resident memory.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";

const TICKS_PER_SECOND = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const PROCESSES_MAX = 256;

/**
 * @typedef {object} Used
 * @property {number} cpuMs User and system time of all threads, also those that ended.
 * @property {number} mainCpuMs That of the first thread, which runs the event loop.
 * @property {number} rssBytes Resident now.
 * @property {number} rssPeakBytes The most that was ever resident.
 */

/**
 * The sum over processes and all their descendants. Throws where one is gone.
 * @param {readonly number[]} pids
 * @returns {Used}
 */
export function readUsed(pids) {
  const used = { cpuMs: 0, mainCpuMs: 0, rssBytes: 0, rssPeakBytes: 0 };
  for (const pid of withDescendants(pids)) {
    used.cpuMs += cpuMs(`/proc/${pid}/stat`);
    used.mainCpuMs += cpuMs(`/proc/${pid}/task/${pid}/stat`);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    used.rssBytes += kibibytes(status, "VmRSS") * 1024;
    used.rssPeakBytes += kibibytes(status, "VmHWM") * 1024;
  }
  return used;
}

/**
 * What the machine's processors did since it started, in ticks, as far as its host lets them: all of it, and what the
 * host took for others while there was work.
 * @returns {{ all: number, stolen: number }}
 */
export function readHost() {
  const line = readFileSync("/proc/stat", "utf8").split("\n", 1)[0] ?? "";
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are counted in the first two.
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: fields.reduce((sum, ticks) => sum + ticks, 0), stolen: fields[7] ?? 0 };
}

/** @param {string} path */
function cpuMs(path) {
  const stat = readFileSync(path, "utf8");
  // The name stands in brackets and may hold anything; the fields behind it are numbers.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/**
 * @param {string} status
 * @param {string} name
 */
function kibibytes(status, name) {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
}

/** @param {readonly number[]} pids */
function withDescendants(pids) {
  const found = [...new Set(pids)];
  for (let at = 0; at < found.length && found.length < PROCESSES_MAX; at++) {
    for (const task of readdirSync(`/proc/${found[at]}/task`)) {
      for (const child of childrenOf(found[at] ?? 0, task)) if (!found.includes(child)) found.push(child);
    }
  }
  return found;
}

/**
 * @param {number} pid
 * @param {string} task
 */
function childrenOf(pid, task) {
  try {
    const text = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim();
    return text === "" ? [] : text.split(" ").map(Number);
  } catch {
    return []; // A thread that ended between the two looks.
  }
}
