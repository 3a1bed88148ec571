/**
 * Two builds of the gateway under the same load at the same time: what a change is worth, to some parts in a hundred.
 * Run: `npm run bench:builds -- --other DIST [--only SCENARIO] [--pairs N] [--rounds N] [--seconds S]`.
 * What V8 optimises in a process, and when it collects that one's whole heap, is luck that lasts as long as the
 * process, up to a tenth of the CPU, and of two builds under load the one that started first may do a fifth better. So
 * several pairs of processes are measured, each build comes first as often, and their geometric mean is what counts.
 * With `--traces SHARE`, such as 0.01, this build sends traces of that share of requests to a sink, and the other,
 * which may be left out and is then the same build, sends none: what traces cost. With `--records` the other one, this
 * build as well, keeps no records of requests: what records cost. With `--node-options="--one --two"` this build is
 * started with those of Node: what an option is worth. With `--at-most RATIO` it fails above that.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { start } from "./child.mjs";
import { bytesPerRequest } from "./database-bytes.mjs";
import { Driver } from "./driver.mjs";
import { median } from "./latency.mjs";
import { Charges, settle, takeTurn } from "./measure-load.mjs";
import { number, wholeNumber } from "./numbers.mjs";
import { SCENARIOS } from "./scenarios.mjs";
import { startSubject } from "./subjects.mjs";

const WARM_SECONDS = 12;
/** A database that grows faster is full sooner. Pages that are half full differ from run to run. */
const BYTES_MOST = 1.05;

/**
 * @typedef {object} Side
 * @property {string} name
 * @property {import("./subjects.mjs").Subject} subject
 * @property {import("./measure-load.mjs").Tools} tools
 * @property {() => Promise<void>} stop
 */

const { values: asked } = parseArgs({
  options: {
    other: { type: "string" },
    traces: { type: "string" },
    records: { type: "boolean", default: false },
    "node-options": { type: "string", default: "" },
    "at-most": { type: "string" },
    only: { type: "string", default: "whole-1k" },
    pairs: { type: "string", default: "4" },
    rounds: { type: "string", default: "4" },
    seconds: { type: "string", default: "4" },
  },
});
const here = (/** @type {string} */ file) => fileURLToPath(new URL(file, import.meta.url));
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

function scenarioOf() {
  const scenario = SCENARIOS.find(({ name, kind }) => name === asked.only && kind === "load");
  if (scenario === undefined) throw new Error(`--only ${asked.only}: there is no such load`);
  return scenario;
}

/** @param {string} build */
function entryOf(build) {
  // Builds of before are files as the compiler made them; one of those is taken out of such a build alone.
  const all = asked.records ? ["src/cli/main.js"] : ["program/main.js", "src/cli/main.js"];
  const entries = all.map((entry) => join(resolve(build), entry));
  const found = entries.find((entry) => existsSync(entry));
  if (found === undefined) throw new Error(`${entries[0]} is not there: build it first (npm run build)`);
  return found;
}

/** Node's options for the other side. @param {string} build */
function otherOptions(build) {
  if (!asked.records) return [];
  const without = new URL("without-records.mjs", import.meta.url);
  without.searchParams.set("build", pathToFileURL(join(resolve(build), "src/")).href);
  return ["--import", without.href];
}

/** Records that nobody keeps would cost too little. @param {readonly Side[]} sides */
async function recordProblems(sides) {
  if (!asked.records) return [];
  /** @type {string[]} */
  const problems = [];
  for (const { name, subject } of sides) {
    const isKept = (await subject.recordCount()) > 0;
    if (isKept !== (name === "this")) problems.push(`${name}: ${isKept ? "keeps" : "keeps no"} records of requests`);
  }
  return problems;
}

/** Takes the traces of one side. */
async function startSink() {
  if (asked.traces === undefined) return undefined;
  const share = number("--traces", asked.traces, 0, 1);
  const { ready } = await start("trace-sink", [process.execPath, here("trace-sink.mjs")]);
  const url = `http://127.0.0.1:${Number(ready["port"])}`;
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: String(share),
  };
  return { url, share, variables };
}

/** Traces that nobody received would cost too little. @param {{ url: string, share: number } | undefined} sink */
async function sinkProblems(sink) {
  if (sink === undefined || sink.share === 0) return [];
  const { posts } = /** @type {{ posts: number }} */ (await (await fetch(sink.url)).json());
  say(`${posts} posts of traces came`);
  return posts > 0 ? [] : ["no traces came"];
}

/**
 * A build with an upstream and a driver of its own, so that neither waits for the other's.
 * @param {string} name
 * @param {string} entry
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {string[]} problems
 * @param {{ variables?: Record<string, string> | undefined, nodeOptions?: string[] }} [more]
 * @returns {Promise<Side>}
 */
async function startSide(name, entry, scenario, problems, { variables = {}, nodeOptions = [] } = {}) {
  const mock = await start("mock", [process.execPath, here("mock-upstream.mjs"), "0"]);
  const mockPort = Number(mock.ready["port"]);
  // Two gateways on one machine are an overload, in which the cost of a refusal would count as that of an answer.
  const all = { TOLLGATE_LOAD_SHEDDING: "off", ...variables };
  const options = /** @type {import("./arguments.mjs").Options} */ ({ nodeOptions, entry, variables: all });
  const subject = await startSubject(scenario.judged, { mockPort, mockPid: mock.pid, options });
  if ("skipped" in subject) throw new Error(subject.skipped);
  const drivers = { http: new Driver("load.mjs"), grpc: new Driver("load-grpc.mjs") };
  const stop = async () => {
    for (const driver of Object.values(drivers)) driver.stop();
    await subject.stop();
    await mock.stop();
  };
  return { name, subject, tools: { drivers, mockPort, options, problems }, stop };
}

/**
 * @typedef {object} Pair
 * @property {number[]} ratios This build's CPU to the other's, of each round.
 * @property {number[]} even Of rounds in which both collected their whole heap as often.
 */

/**
 * @param {readonly Side[]} sides In the order in which they were started.
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {string[]} problems
 * @param {{ rounds: number, seconds: number }} lengths
 * @returns {Promise<Pair>}
 */
async function measurePair(sides, scenario, problems, { rounds, seconds }) {
  const charges = new Charges();
  const both = (/** @type {(side: Side) => Promise<any>} */ run) => Promise.all(sides.map(run));
  // As long for both, and not as many requests: whoever had to wait would serve more, or drop what it had optimised.
  const warming = { ...scenario, ...scenario.warmUp, each: undefined };
  await both((side) => takeTurn(warming, side.subject, charges, side.tools, WARM_SECONDS));
  await both((side) => settle(scenario, side.subject, charges, side.tools, seconds));
  /** @type {Pair} */
  const pair = { ratios: [], even: [] };
  for (let round = 0; round < rounds; round++) {
    /** @type {Map<string, any>} */
    const turns = new Map();
    await both(async ({ name, subject, tools }) => {
      turns.set(name, await takeTurn(scenario, subject, charges, tools, seconds));
    });
    const [own, other] = [turns.get("this"), turns.get("other")];
    const ratio = own.cpuUs / other.cpuUs;
    pair.ratios.push(ratio);
    if (own.collections === other.collections) pair.even.push(ratio);
    say(`  other ${described(other)}   this ${described(own)}   this to other ${ratio.toFixed(3)}`);
  }
  for (const { name, subject } of sides)
    problems.push(...(await subject.prove(charges.of(subject))).map((problem) => `${name}: ${problem}`));
  problems.push(...(await recordProblems(sides)));
  return pair;
}

/** What a request takes of this build's database to what it takes of the other's. @param {readonly Side[]} sides */
function bytesRatio(sides) {
  const bytesOf = (/** @type {string} */ name) =>
    bytesPerRequest(sides.find((side) => side.name === name)?.subject.data ?? "") ?? Number.NaN;
  return bytesOf("this") / bytesOf("other");
}

/** @param {{ cpuUs: number, otherCpuUs: number, collections: number }} turn */
function described({ cpuUs, otherCpuUs, collections }) {
  const often = collections === 0 ? "" : `, ${collections} full collections`;
  return `${cpuUs.toFixed(1)} (${otherCpuUs.toFixed(1)})${often}`;
}

/** What favours the build that starts first is as much above the mean as below it. @param {readonly number[]} ratios */
function geometricMean(ratios) {
  return Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
}

/** @param {readonly number[]} ratios */
function inShort(ratios) {
  if (ratios.length === 0) return "none";
  return `${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)}-${Math.max(...ratios).toFixed(3)})`;
}

async function main() {
  if (asked.other === undefined && asked.traces === undefined && !asked.records)
    throw new Error("--other: name the folder of another build, such as ../before/dist");
  const scenario = scenarioOf();
  const pairs = wholeNumber("--pairs", asked.pairs, 2, 100);
  if (pairs % 2 !== 0) throw new Error("--pairs: must be even, so that each build comes first as often");
  const rounds = wholeNumber("--rounds", asked.rounds, 1, 100);
  const lengths = { rounds, seconds: number("--seconds", asked.seconds, 0.1, 60) };
  const most = asked["at-most"] === undefined ? Infinity : number("--at-most", asked["at-most"], 0.01, 100);
  /** @type {string[]} */
  const problems = [];
  const sink = await startSink();
  const own = here("../../dist");
  const other = asked.other ?? own;
  const ownOptions = asked["node-options"].split(" ").filter((option) => option !== "");
  const starts = [
    () => startSide("other", entryOf(other), scenario, problems, { nodeOptions: otherOptions(other) }),
    () => startSide("this", entryOf(own), scenario, problems, { variables: sink?.variables, nodeOptions: ownOptions }),
  ];
  say(`${scenario.title}: both builds at once, CPU µs a request, in brackets that of other threads`);
  /** @type {Pair} */
  const all = { ratios: [], even: [] };
  const medians = [];
  /** @type {number[]} */
  const bytes = [];
  for (let pair = 0; pair < pairs; pair++) {
    const sides = [];
    for (const begin of pair % 2 === 0 ? starts : starts.toReversed()) sides.push(await begin());
    say(`pair ${pair + 1}, ${sides[0]?.name} first`);
    const { ratios, even } = await measurePair(sides, scenario, problems, lengths);
    for (const side of sides) await side.stop();
    bytes.push(bytesRatio(sides));
    medians.push(median(ratios));
    all.ratios.push(...ratios);
    all.even.push(...even);
  }
  const mean = geometricMean(medians);
  say(`this to other, geometric mean of the pairs: ${mean.toFixed(3)}`);
  say(`this to other, by pairs: ${inShort(medians)}`);
  say(`this to other, by rounds: ${inShort(all.ratios)}`);
  say(`of the ${all.even.length} rounds in which both collected their whole heap as often: ${inShort(all.even)}`);
  say(`this to other, bytes of the database a request: ${inShort(bytes)}`);
  problems.push(...(await sinkProblems(sink)));
  if (median(bytes) > BYTES_MOST) problems.push(`${median(bytes).toFixed(3)} of the bytes is above ${BYTES_MOST}`);
  if (mean > most) problems.push(`${mean.toFixed(3)} is above ${most}`);
  say(`${problems.length} problems`);
  problems.forEach((problem) => say(`- ${problem}`));
  process.exit(problems.length > 0 ? 1 : 0);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
