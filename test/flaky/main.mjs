/**
 * The suite, or the files named, several times in random order on a machine made worse, and each test that failed once.
 * Run: `npm run flaky -- [--runs N] [--hogs K] [--seed S] [FILE...]`.
 */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { wholeNumber } from "../bench/numbers.mjs";
import { compileDisturbance, makeDirectory, startHogs, variablesOf } from "./disturbance.mjs";
import { endRun, leftBehind, PROCESSES_MISSING, testDirectories } from "./left-behind.mjs";
import { tableOf } from "./table.mjs";

const USAGE = `npm run flaky -- [options] [FILE...]
  --runs N    how often it runs (default 6)
  --hogs K    busy loops beside it (default 4)
  --seed S    the seed of the first run; each later run adds 1 (default: a random one)
  --wait S    how many seconds after its end a run's processes and directories may be there (default 10)
A FILE is a test file, or a part of the names of several. Without one it is what \`npm test\` runs. Tests of
\`npm run prove\` run where a FILE names .prove. in them.
To repeat run SEED: npm run flaky -- --runs 1 --seed SEED [FILE...]
`;
const SEED_MAX = 2 ** 31 - 1;
const RUN_HOURS_MAX = 3;
/** A process that is ended by a signal has so long to end by itself. */
const END_MS = 5_000;
const LAST_OUTPUT_MS = 1_000;
const ONE_RUN = fileURLToPath(new URL("one-run.mjs", import.meta.url));
/** The logs of runs that failed, in the directory that the tests are of. */
const LOGS = join("dist", "flaky");
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/** Throws an Error of one line where an argument is wrong. */
function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h", default: false },
      runs: { type: "string", default: "6" },
      hogs: { type: "string", default: "4" },
      seed: { type: "string", default: String(randomInt(1, SEED_MAX - 1_000)) },
      wait: { type: "string", default: "10" },
    },
  });
  return {
    help: values.help,
    runs: wholeNumber("--runs", values.runs, 1, 1_000),
    hogs: wholeNumber("--hogs", values.hogs, 0, 64),
    seed: wholeNumber("--seed", values.seed, 1, SEED_MAX),
    waitMs: wholeNumber("--wait", values.wait, 0, 600) * 1_000,
    files: positionals,
  };
}

/**
 * The run that goes on.
 * @type {import("./left-behind.mjs").Run & { child: import("node:child_process").ChildProcess } | undefined}
 */
let going;

/**
 * @param {{ seed: number, files: string[], waitMs: number, directory: string, library: string | undefined }} options
 * @returns {Promise<{ seed: number, failed: { name: string, error: string }[], passed: number, skipped: number }>}
 */
async function runOnce({ seed, files, waitMs, directory, library }) {
  const report = join(directory, `${seed}.json`);
  const log = join(LOGS, `${seed}.log`);
  const run = `${seed}-${process.pid}`;
  const before = testDirectories();
  const child = spawn(process.execPath, [ONE_RUN, report, String(seed), ...files], {
    // It ends when this process does, since then its standard input is closed.
    stdio: ["pipe", "pipe", "pipe"],
    // In a session of its own, by which its processes are known.
    detached: true,
    env: { ...process.env, ...variablesOf(library, run) },
  });
  if (child.pid === undefined) throw new Error(`${process.execPath} does not start`);
  going = { run, pid: child.pid, before, child };
  const written = createWriteStream(log);
  child.stdout.pipe(written, { end: false });
  child.stderr.pipe(written, { end: false });
  const tooLong = setTimeout(() => child.kill("SIGKILL"), RUN_HOURS_MAX * 3_600_000);
  const closed = once(child, "close");
  const [code, signal] = await once(child, "exit");
  clearTimeout(tooLong);
  const left = await leftBehind(going, waitMs);
  going = undefined;
  // Its output may be held open by what it left behind.
  await Promise.race([closed, sleep(LAST_OUTPUT_MS)]);
  child.stdout.unpipe();
  child.stderr.unpipe();
  await finished(written.end());
  const result = resultOf(report, `it ended with ${signal ?? code}; ${log} says why`);
  if (result.failed.length === 0 && code !== 0)
    result.failed.push({ name: "vitest", error: `no test failed, and it ended with ${signal ?? code}; see ${log}` });
  result.failed.push(...left);
  if (result.failed.length === 0) rmSync(log, { force: true });
  return { seed, ...result };
}

/** @param {string} report @param {string} end @returns {import("./one-run.mjs").Report} */
function resultOf(report, end) {
  if (!existsSync(report)) return { passed: 0, skipped: 0, failed: [{ name: "vitest", error: end }] };
  const result = JSON.parse(readFileSync(report, "utf8"));
  if (result.passed + result.failed.length === 0)
    result.failed.push({ name: "vitest", error: `no test ran; ${end.replace(/.*; /, "")}` });
  return result;
}

/** @param {ReturnType<typeof readArguments>} options @param {string} directory */
async function runAll({ runs, hogs, seed, waitMs, files }, directory) {
  const disturbance = compileDisturbance(directory);
  const library = "library" in disturbance ? disturbance.library : undefined;
  const loops = startHogs(hogs);
  const pids = loops.map(({ pid }) => pid).join(", ");
  say(`${plural(runs, "run")} of ${files.join(" ") || "the suite"}`);
  if (hogs > 0) say(`Beside them spin the processes ${pids}.`);
  if ("missing" in disturbance) say(`NOT RUN: slow syncs and a clock that drifts: ${disturbance.missing}`);
  if (PROCESSES_MISSING !== undefined) say(`NOT RUN: a look for processes left behind: ${PROCESSES_MISSING}`);
  const results = [];
  for (let count = 1; count <= runs; count++) {
    const startedMs = performance.now();
    const result = await runOnce({ seed: seed + count - 1, files, waitMs, directory, library });
    results.push(result);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
    say(
      `run ${count} of ${runs}, seed ${result.seed}: ${result.failed.length} failed, ${result.passed} passed, ` +
        `${result.skipped} not run, in ${seconds} s`,
    );
  }
  for (const loop of loops) loop.kill("SIGKILL");
  return results;
}

/** @param {number} count @param {string} noun */
function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {string} directory */
function endOnSignal(directory) {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.once(signal, () => {
      rmSync(directory, { recursive: true, force: true });
      const run = going;
      if (run === undefined) process.exit(130);
      run.child.kill("SIGTERM");
      const end = () => {
        endRun(run);
        process.exit(130);
      };
      run.child.once("exit", end);
      setTimeout(end, END_MS);
    });
}

let options;
try {
  options = readArguments();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exit(2);
}
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const directory = makeDirectory();
endOnSignal(directory);
rmSync(LOGS, { recursive: true, force: true });
mkdirSync(LOGS, { recursive: true });
try {
  const results = await runAll(options, directory);
  const table = tableOf(results);
  const skipped = Math.max(...results.map((result) => result.skipped));
  if (skipped > 0) say(`\nNOT RUN: ${skipped} of the tests, as \`npm test\` names them.`);
  if (table.length > 0) say(`\n${table.join("\n")}\n\nThe logs of the runs that failed are in ${LOGS}.`);
  else say(`\nNo test failed in ${plural(results.length, "run")}.`);
  process.exitCode = table.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
// Nothing that still holds the output of a run keeps it alive.
process.exit();
