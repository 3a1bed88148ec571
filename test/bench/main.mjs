/** The benchmark: what the gateway adds to a call, measured in one run beside a bare pass-through and nginx. */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { USAGE, readArguments } from "./arguments.mjs";
import { runDirectory, start } from "./child.mjs";
import { measureDiskSync } from "./disk-sync.mjs";
import { writeDocs } from "./docs-table.mjs";
import { Driver } from "./driver.mjs";
import { runScenario } from "./run-scenario.mjs";
import { SCENARIOS } from "./scenarios.mjs";
import { alignedText, goalText, tableOf } from "./table.mjs";

/** @typedef {import("./arguments.mjs").Options} Options */

const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

/** @param {number} port */
function startMock(port) {
  return start("mock", [process.execPath, fileURLToPath(new URL("mock-upstream.mjs", import.meta.url)), String(port)]);
}

/** @param {Options} options */
async function main(options) {
  const mock = await startMock(options.mockPort);
  const mockPort = Number(mock.ready["port"]);
  // Where one tenant attacks another, each has an upstream of its own: a fault of the mock is none of the gateway's.
  const otherMock = await startMock(0);
  const drivers = { http: new Driver("load.mjs"), grpc: new Driver("load-grpc.mjs") };
  const circumstances = describeMachine(options);
  circumstances.forEach(say);
  if (options.peer !== undefined) say(`The peer's upstream must be the mock at http://127.0.0.1:${mockPort}/v1`);
  /** @type {string[]} */
  const problems = [];
  /** @type {Set<string>} */
  const skipped = new Set();
  const results = [];
  const bench = { mockPort, mockPid: mock.pid, otherMockPort: Number(otherMock.ready["port"]), options };
  const tools = { drivers, mockPort, options, problems };
  for (const scenario of SCENARIOS.filter(({ name }) => options.only.length === 0 || options.only.includes(name))) {
    const varied = options.quick ? { ...scenario, ...scenario.quick } : scenario;
    try {
      const { result, skipped: left } = await runScenario(varied, bench, tools);
      left.forEach((reason) => skipped.add(reason));
      if (result === undefined) continue;
      say(`\n${result.title}  [${result.scenario}]\n${alignedText(tableOf(result))}`);
      result.goals.forEach((goal) => say(goalText(goal)));
      results.push(result);
    } catch (error) {
      problems.push(`${scenario.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  Object.values(drivers).forEach((driver) => driver.stop());
  await Promise.all([mock.stop(), otherMock.stop()]);
  summarize({ results, skipped: [...skipped], problems, circumstances }, options);
}

/**
 * @param {{ results: import("./result.mjs").Result[], skipped: string[], problems: string[], circumstances: string[] }}
 * run
 * @param {Options} options
 */
function summarize(run, options) {
  const { results, skipped, problems, circumstances } = run;
  const goals = results.flatMap((result) => result.goals);
  const missed = goals.filter((goal) => !goal.holds);
  say(`\n${goals.length - missed.length} of ${goals.length} goals hold.`);
  missed.forEach((goal) => say(goalText(goal)));
  say(`${skipped.length} not run${skipped.length > 0 ? `: ${skipped.join("; ")}` : ""}`);
  say(`${problems.length} problems`);
  problems.forEach((problem) => say(`- ${problem}`));
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(run, undefined, 2)}\n`);
  if (options.writeDocs && problems.length === 0) writeDocs(results, circumstances, skipped);
  // A wrong answer or a ledger that does not hold makes every number worthless.
  if (problems.length > 0 || (options.strict && missed.length > 0)) process.exitCode = 1;
}

/** @param {Options} options */
function describeMachine(options) {
  const sync = measureDiskSync(runDirectory, 200);
  const load = loadavg()[0] ?? 0;
  const busy = load > 0.5 ? "; the machine was busy before: read ratios alone" : "";
  const day = new Date().toISOString().slice(0, 10);
  return [
    `${day}, Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown kind"}, load ${load.toFixed(2)}${busy}`,
    `${options.rounds} rounds of ${options.seconds} s after ${options.warmSeconds} s of warm-up; medians; ratios are of one round`,
    `The disk makes 4 KB durable in ${sync.p50.toFixed(2)} ms (p50), ${sync.p99.toFixed(2)} ms (p99)`,
  ];
}

try {
  const options = readArguments(process.argv.slice(2));
  if (options === "help") say(USAGE);
  else await main(options);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  // Processes that still run end with this one.
  process.exit(2);
}
