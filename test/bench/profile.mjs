/**
 * Profiles the gateway under one scenario: where its time goes, what it allocates and what of that lives on, and how
 * long its event loop is held.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readArguments } from "./arguments.mjs";
import { runDirectory, start } from "./child.mjs";
import { Driver } from "./driver.mjs";
import { Charges, takeTurn, warmUp } from "./measure-load.mjs";
import { number, wholeNumber } from "./numbers.mjs";
import { summarizeCpu, summarizeHeap } from "./profile-summary.mjs";
import { SCENARIOS } from "./scenarios.mjs";
import { startSubject } from "./subjects.mjs";

const USAGE = `npm run profile -- [options]
  --scenario NAME   under which load (default whole-1k)
  --seconds N       how long each of the three profiles is taken (default 8)
  --top N           how many functions are printed (default 30)
  --out DIR         keep the profiles there, for a browser's developer tools
`;
const HOOK = new URL("profile-hook.mjs", import.meta.url);
/** The same program file by file, so that a profile tells which one a function is of. `npm run build` makes it. */
const COMPILED = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const SAMPLE_US = 250;
const WARM_SECONDS = 3;
const FILE_MS_MAX = 20_000;

const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/** @typedef {{ scenario: import("./scenarios.mjs").Scenario, seconds: number, top: number, directory: string }} Plan */
/** @typedef {import("./measure-load.mjs").Tools} Tools */

/**
 * Starts the subject that the scenario is about, warms it up, and drives it.
 * @param {Plan} plan
 * @param {Tools & { mockPid: number }} tools
 * @param {string[]} nodeOptions
 * @param {(subject: import("./subjects.mjs").Subject, run: () => Promise<number>) => Promise<void>} watch
 */
async function underLoad(plan, tools, nodeOptions, watch) {
  const bench = { ...tools, options: { ...tools.options, nodeOptions, entry: COMPILED } };
  const subject = await startSubject(plan.scenario.judged, bench);
  if ("skipped" in subject) throw new Error(subject.skipped);
  const charges = new Charges();
  await warmUp(plan.scenario, subject, charges, tools, WARM_SECONDS);
  await watch(subject, async () => {
    const before = charges.answersOf(subject);
    const turn = await takeTurn(plan.scenario, subject, charges, tools, plan.seconds);
    const told = (/** @type {string} */ metric) => turn[metric]?.toFixed(1) ?? "-";
    say(
      `  under the profiler: ${told("cpuUs")} µs of CPU a request, ${told("otherCpuUs")} of them in other threads, ` +
        `${told("perSecond")} requests/s`,
    );
    const [p50, p90, p99] = [told("delayP50Ms"), told("delayP90Ms"), told("delayP99Ms")];
    const delays = `p50 ${p50}, p90 ${p90}, p99 ${p99}, most ${told("stallMs")}`;
    say(`  event loop held, in ms, the watch's own 10 ms among it: ${delays}`);
    return charges.answersOf(subject) - before;
  });
  await subject.stop();
}

/**
 * @param {Plan} plan
 * @param {Tools & { mockPid: number }} tools
 */
async function profileCpu(plan, tools) {
  const options = [
    "--import",
    HOOK.href,
    "--cpu-prof",
    `--cpu-prof-dir=${plan.directory}`,
    `--cpu-prof-interval=${SAMPLE_US}`,
  ];
  let fromMs = 0;
  let answers = 0;
  const startedMs = performance.now();
  say(`\nCPU, ${plan.scenario.title}`);
  await underLoad(plan, tools, options, async (_subject, run) => {
    // What came before is the start and the warm-up.
    fromMs = performance.now() - startedMs;
    answers = await run();
  });
  for (const file of readdirSync(plan.directory).filter((name) => name.endsWith(".cpuprofile"))) {
    const sums = summarizeCpu(JSON.parse(readFileSync(join(plan.directory, file), "utf8")), fromMs);
    const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1] ?? "0";
    say(`\n  thread ${thread} of process ${file.split(".")[3]}: ${sums.total.toFixed(0)} ms busy`);
    print(sums, plan.top, (ms) => `${((ms * 1000) / answers).toFixed(1).padStart(8)} µs/request`);
  }
}

/**
 * @param {Plan} plan
 * @param {Tools & { mockPid: number }} tools
 * @param {boolean} outlived Only what outlives a collection of the young generation, which should be next to nothing.
 */
async function profileAllocation(plan, tools, outlived) {
  const path = join(plan.directory, `${outlived ? "outlived" : "allocation"}.heapprofile`);
  const hook = new URL(HOOK);
  hook.searchParams.set("out", path);
  if (outlived) hook.searchParams.set("outlived", "");
  const what = outlived ? "What outlives the young generation" : "Allocation";
  say(`\n${what} of the main thread, ${plan.scenario.title}`);
  await underLoad(plan, tools, ["--import", hook.href], async ({ pids }, run) => {
    // Of a split deployment the front end is watched, which comes last.
    const pid = pids.at(-1) ?? 0;
    process.kill(pid, "SIGUSR2");
    const answers = await run();
    process.kill(pid, "SIGUSR2");
    for (const deadlineMs = performance.now() + FILE_MS_MAX; !existsSync(path); await sleep(50))
      if (performance.now() > deadlineMs) throw new Error("the gateway wrote no allocation profile");
    const sums = summarizeHeap(JSON.parse(readFileSync(path, "utf8")).head);
    print(sums, plan.top, (bytes) => `${(bytes / answers).toFixed(0).padStart(8)} B/request`);
  });
}

/**
 * @param {ReturnType<typeof summarizeHeap>} sums
 * @param {number} top
 * @param {(amount: number) => string} tell
 */
function print(sums, top, tell) {
  const line = (/** @type {import("./profile-summary.mjs").Line} */ { name, share, amount }) =>
    say(`  ${(share * 100).toFixed(1).padStart(5)} % ${tell(amount)}  ${name}`);
  say("  by part:");
  sums.parts(16).forEach(line);
  say("  by function, itself alone:");
  sums.functions(top).forEach(line);
}

async function main() {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", default: false },
      scenario: { type: "string", default: "whole-1k" },
      seconds: { type: "string", default: "8" },
      top: { type: "string", default: "30" },
      out: { type: "string", default: join(runDirectory, "profiles") },
    },
  });
  if (values.help) return say(USAGE);
  const scenario = SCENARIOS.find(({ name, kind }) => name === values.scenario && kind === "load");
  if (scenario === undefined) throw new Error(`--scenario ${values.scenario}: there is no such load`);
  mkdirSync(values.out, { recursive: true });
  if (readdirSync(values.out).length > 0) throw new Error(`--out ${values.out}: it must be empty`);
  const seconds = number("--seconds", values.seconds, 0.1, 600);
  const top = wholeNumber("--top", values.top, 1, 1_000);
  const plan = { scenario, seconds, top, directory: values.out };
  const options = readArguments([]);
  if (options === "help") return;
  const mock = await start("mock", [process.execPath, fileURLToPath(new URL("mock-upstream.mjs", import.meta.url))]);
  const drivers = { http: new Driver("load.mjs"), grpc: new Driver("load-grpc.mjs") };
  const mockPort = Number(mock.ready["port"]);
  /** @type {string[]} */
  const problems = [];
  const tools = { drivers, mockPort, mockPid: mock.pid, options, problems };
  await profileCpu(plan, tools);
  await profileAllocation(plan, tools, false);
  await profileAllocation(plan, tools, true);
  Object.values(drivers).forEach((driver) => driver.stop());
  await mock.stop();
  problems.forEach((problem) => say(`problem: ${problem}`));
  if (problems.length > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  // Processes that still run end with this one.
  process.exit(2);
}
