/**
 * The overload: `npm run overload [-- --seconds N] [--only whole|stream] [--impatient] [--off]`. It finds the load that
 * saturates one gateway, sends three times as much beside a light account's calls, and says whether it held. Who is
 * refused asks no more for as long as it is told, as SDKs do; with `--impatient` all ask on. `--off` shows the same
 * without load shedding. It needs two cores of its own.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chatBody } from "../bench/bodies.mjs";
import { start } from "../bench/child.mjs";
import { Driver } from "../bench/driver.mjs";
import { findGateway, MODEL, OTHER_MODEL, startGateway } from "../bench/gateway-under-test.mjs";
import { readUsed } from "../bench/process-stats.mjs";

const MEMORY_LOOK_MS = 100;
/** Enough to keep a gateway busy, and few enough to wait for no more than a moment. */
const SATURATING_CALLERS = 64;
const TIMES = 3;
/** Kept connections, as those of a proxy. */
const CALLERS_MAX = 3_000;
const LIGHT_PER_SECOND = 20;
/** What must hold. */
const GOALS = { answeredLeast: 0.9, refusedMsMost: 2_000, memoryMost: 1.5, lightErrorsMost: 0.01 };

/** @typedef {import("./load.mjs").Tally} Tally */

const KINDS = {
  whole: { stream: false, bytes: 1_024, mock: { answer: 1_024, input: 250, output: 250 } },
  stream: { stream: true, bytes: 1_024, mock: { events: 60, input: 250, output: 58 } },
};

/**
 * @param {string} host
 * @param {string} key
 * @param {string} model
 * @param {typeof KINDS.whole | typeof KINDS.stream} kind
 */
function requestText(host, key, model, { stream, bytes, mock }) {
  const body = chatBody({ bytes, text: "prose", stream }, model, mock).toString();
  const headers = [`host: ${host}`, `authorization: Bearer ${key}`, "content-type: application/json"];
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return `POST /v1/chat/completions HTTP/1.1\r\n${[...headers, length].join("\r\n")}\r\n\r\n${body}`;
}

/**
 * Runs a job, and looks at the memory meanwhile.
 * @param {Driver} driver
 * @param {import("./load.mjs").Job} job
 * @param {readonly number[]} pids
 */
async function measure(driver, job, pids) {
  const before = readUsed(pids);
  const startMs = performance.now();
  let rssBytes = 0;
  const watch = setInterval(() => {
    rssBytes = Math.max(rssBytes, readUsed(pids).rssBytes);
  }, MEMORY_LOOK_MS);
  const tallies = /** @type {Record<string, Tally>} */ (/** @type {unknown} */ (await driver.run(job)));
  clearInterval(watch);
  const tookMs = performance.now() - startMs;
  return { tallies, rssBytes, tookMs, cpuMs: readUsed(pids).mainCpuMs - before.mainCpuMs };
}

/**
 * @param {string} entry
 * @param {"whole" | "stream"} name
 * @param {{ readonly seconds: number, readonly isOff: boolean, readonly isPatient: boolean }} options
 */
async function run(entry, name, { seconds, isOff, isPatient }) {
  const kind = KINDS[name];
  const mockPath = fileURLToPath(new URL("../bench/mock-upstream.mjs", import.meta.url));
  const mock = await start("mock", [process.execPath, mockPath, "0"]);
  const variables = isOff ? { TOLLGATE_LOAD_SHEDDING: "off" } : {};
  const gateway = await startGateway({ entry, upstreamPort: Number(mock.ready["port"]), variables });
  const driver = new Driver("../overload/load.mjs");
  try {
    const [host = "", port = ""] = gateway.http.split(":");
    const request = requestText(gateway.http, gateway.key, MODEL, kind);
    const lightRequest = requestText(gateway.http, gateway.otherKey, OTHER_MODEL, kind);
    const to = { host, port: Number(port) };
    const closed = { name: "all", request, perSecond: 0, callers: SATURATING_CALLERS, isPatient };
    // The same connections are open, of which nothing comes.
    const still = { name: "still", request, perSecond: 1 / 3_600, callers: CALLERS_MAX, isPatient };
    await driver.run({ ...to, seconds: Math.max(4, seconds / 2), groups: [closed, still] });
    const one = await measure(driver, { ...to, seconds, groups: [closed, still] }, gateway.pids);
    const perSecond = Math.round(((one.tallies["all"]?.answered ?? 0) / seconds) * TIMES);
    const flood = { name: "flood", request, perSecond, callers: CALLERS_MAX, isPatient };
    const light = { name: "light", request: lightRequest, perSecond: LIGHT_PER_SECOND, callers: 50, isPatient };
    const three = await measure(driver, { ...to, seconds, groups: [flood, light] }, gateway.pids);
    // A machine that others use as well is not as fast at the end as at the beginning.
    const last = await measure(driver, { ...to, seconds, groups: [closed, still] }, gateway.pids);
    return { one, last, three, seconds };
  } finally {
    driver.stop();
    await gateway.stop();
    await mock.stop();
  }
}

/** @param {Awaited<ReturnType<typeof run>>} result */
function judge({ one, last, three, seconds }) {
  const { all } = one.tallies;
  const { all: after } = last.tallies;
  const { flood, light } = three.tallies;
  if (all === undefined || after === undefined || flood === undefined || light === undefined)
    throw new Error("the load told nothing");
  const answered = (2 * (flood.answered + light.answered)) / Math.max(1, all.answered + after.answered);
  const others = { ...flood.others };
  for (const [status, count] of Object.entries(light.others)) others[status] = (others[status] ?? 0) + count;
  const lightErrors = (light.sent - light.answered - light.later) / Math.max(1, light.sent);
  const memory = three.rssBytes / one.rssBytes;
  const refusedMs = Math.max(flood.refusedMs, light.refusedMs);
  const due = flood.sent + flood.unsent;
  const rate = (/** @type {number} */ count) => `${Math.round(count / seconds)}/s`;
  const cores = (/** @type {{ cpuMs: number, tookMs: number }} */ { cpuMs, tookMs }) => share(cpuMs / tookMs);
  const share = (/** @type {number} */ part) => part.toFixed(3);
  const rows = [
    [
      "1 x: answered well",
      `${rate(all.answered)} before and ${rate(after.answered)} after`,
      all.answered > 0 && Object.keys(all.others).length === 0,
    ],
    ["3 x: due", `${rate(due)}, of which ${rate(flood.sent)} were sent and callers held back the others`, due > 0],
    [
      "3 x: answered well, to 1 x",
      `${rate(flood.answered + light.answered)}, ${share(answered)}`,
      answered >= GOALS.answeredLeast,
    ],
    [
      "3 x: refused with 503 and retry-after",
      `${rate(flood.refused)}, the last within ${Math.round(refusedMs)} ms`,
      refusedMs <= GOALS.refusedMsMost,
    ],
    ["3 x: any other end", JSON.stringify(others), Object.keys(others).length === 0],
    ["the event loop's thread had", `${cores(one)} of a core, and ${cores(three)} at 3 x`, true],
    ["3 x: half of the good answers took", `${Math.round(flood.halfMs)} ms (1 x: ${Math.round(all.halfMs)} ms)`, true],
    [
      "3 x: resident memory, to 1 x",
      `${Math.round(three.rssBytes / 2 ** 20)} MB, ${share(memory)}`,
      memory <= GOALS.memoryMost,
    ],
    [
      "3 x: errors of the light account",
      `${share(lightErrors)} of ${light.sent}, the longest ${Math.round(light.answeredMs)} ms`,
      lightErrors < GOALS.lightErrorsMost,
    ],
  ];
  for (const [what, told, holds] of rows)
    process.stdout.write(`  ${holds === true ? "ok    " : "MISSED"} ${what}: ${told}\n`);
  return rows.every(([, , holds]) => holds === true);
}

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "20" },
    only: { type: "string" },
    off: { type: "boolean", default: false },
    impatient: { type: "boolean", default: false },
  },
});
const entry = findGateway();
if (entry === undefined) {
  process.stderr.write("The program is not built: npm run build\n");
  process.exit(2);
}
let holds = true;
for (const name of /** @type {const} */ (["stream", "whole"])) {
  if (values.only !== undefined && values.only !== name) continue;
  process.stdout.write(`${name}:\n`);
  const options = { seconds: Number(values.seconds), isOff: values.off, isPatient: !values.impatient };
  holds = judge(await run(entry, name, options)) && holds;
}
process.exit(holds ? 0 : 1);
