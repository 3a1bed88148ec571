/**
 * The suite on a machine that is four times slower: all its processes share a group of the kernel that may use a
 * quarter of the processors. Run as root on Linux: `npm run test:slow [-- FILE...]`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const SLOWER = 4;
const PERIOD_US = 100_000;
const quotaUs = (PERIOD_US * availableParallelism()) / SLOWER;

/** A group of its own, in whichever of the kernel's two forms the machine has. Returns its folder. */
function makeGroup() {
  const first = "/sys/fs/cgroup/cpu";
  const parent = existsSync(join(first, "cpu.cfs_quota_us")) ? first : "/sys/fs/cgroup";
  const group = join(parent, `tollgate-slow-${process.pid}`);
  mkdirSync(group);
  if (parent === first) {
    writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
    writeFileSync(join(group, "cpu.cfs_quota_us"), String(quotaUs));
  } else {
    writeFileSync(join(group, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
  }
  return group;
}

/** @param {string} group */
function throttledSeconds(group) {
  const stat = readFileSync(join(group, "cpu.stat"), "utf8");
  const nanoseconds = /^throttled_time (\d+)/m.exec(stat)?.[1];
  const microseconds = /^throttled_usec (\d+)/m.exec(stat)?.[1];
  return nanoseconds === undefined ? Number(microseconds) / 1e6 : Number(nanoseconds) / 1e9;
}

let group;
try {
  group = makeGroup();
  writeFileSync(join(group, "cgroup.procs"), String(process.pid));
} catch (error) {
  process.stderr.write(`no group of processes can be slowed down here: ${String(error)}. It takes root, on Linux.\n`);
  process.exit(2);
}
const startedMs = performance.now();
const { status } = spawnSync(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
});
const seconds = (performance.now() - startedMs) / 1000;
process.stdout.write(
  `\n${status === 0 ? "green" : "RED"} in ${seconds.toFixed(0)} s with ${quotaUs / PERIOD_US} of ` +
    `${availableParallelism()} processors; they waited ${throttledSeconds(group).toFixed(0)} s for their share\n`,
);
writeFileSync(join(group, "..", "cgroup.procs"), String(process.pid));
try {
  rmdirSync(group);
} catch {
  // Something of a test still ends: the group goes with the machine's next start.
}
process.exitCode = status ?? 1;
