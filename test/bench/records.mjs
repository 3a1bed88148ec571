/**
 * The benchmark of records: a million requests in the store, every question about them, and a server that answers
 * others meanwhile. Run: `npm run bench:records -- [--count N] [--rounds N] [--per-second N] [--data DIR] [--strict]`.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chatBody } from "./bodies.mjs";
import { runDirectory, start } from "./child.mjs";
import { Driver } from "./driver.mjs";
import { findGateway, MODEL, startGateway } from "./gateway-under-test.mjs";
import { questionsOf } from "./records-questions.mjs";
import { alignedText } from "./table.mjs";

const GOAL = { p95Ms: 200, stallMs: 10 };
const CALLERS = 64;
const KEYS = 200;
const ALONE_SECONDS = 10;
const PIECE_SECONDS = 10;

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "1000000" },
    days: { type: "string", default: "30" },
    rounds: { type: "string", default: "20" },
    "per-second": { type: "string", default: "500" },
    // Made where it is not there, and left there.
    data: { type: "string", default: "" },
    strict: { type: "boolean", default: false },
  },
});
const say = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`);

const entry = findGateway();
if (entry === undefined) throw new Error("build first: npm run build");
const directory = options.data === "" ? join(runDirectory, "data") : options.data;
if (!existsSync(directory)) {
  const seed = fileURLToPath(new URL("records-seed.mjs", import.meta.url));
  const told = execFileSync(process.execPath, [seed, directory, options.count, options.days], { encoding: "utf8" });
  const { count, seconds } = JSON.parse(told);
  say(`${count} requests of ${options.days} days made in ${seconds.toFixed(0)} s`);
}

const mock = await start("mock", [process.execPath, fileURLToPath(new URL("mock-upstream.mjs", import.meta.url)), "0"]);
const watched = join(runDirectory, "held.jsonl");
writeFileSync(watched, "");
const watch = new URL("loop-watch.mjs", import.meta.url);
watch.searchParams.set("out", watched);
const nodeOptions = ["--import", watch.href];
const gateway = await startGateway({ entry, upstreamPort: Number(mock.ready["port"]), nodeOptions, data: directory });
say(
  `Ready in ${(gateway.readyMs / 1_000).toFixed(1)} s; ${cpus().length} processors, load ${loadavg()[0]?.toFixed(1)}`,
);

/** The longest that a callback held the event loop since the last look, in milliseconds. */
const longestHeldMs = () => {
  const lines = readFileSync(watched, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  writeFileSync(watched, "");
  return lines.reduce((most, line) => Math.max(most, JSON.parse(line).heldMs), 0);
};

/** @param {string} path @param {object} [body] */
async function ask(path, body) {
  return JSON.parse(await answerTo(path, body));
}

/** @param {string} path @param {object} [body] */
async function answerTo(path, body) {
  const headers = { authorization: `Bearer ${gateway.operatorKey}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`http://${gateway.http}/api/v1${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

for (let at = 0; at < KEYS; at++)
  await ask("/keys", { account_id: `acct-${at % 50}`, settings: { name: `key ${at}` } });

const driver = new Driver("load.mjs");
const [host = "", port = ""] = gateway.http.split(":");
const questions = await questionsOf(ask);
const rounds = Number(options.rounds);
const job = {
  host,
  port: Number(port),
  path: "/v1/chat/completions",
  headers: { authorization: `Bearer ${gateway.key}` },
  body: chatBody({ bytes: 1_000, text: "prose", stream: true }, MODEL, { events: 8 }).toString(),
  expected: { eventMark: "data: {", events: 8, endMark: "data: [DONE]" },
  callers: CALLERS,
  requests: 0,
  perSecond: Number(options["per-second"]),
  spreadMs: 0,
  windowSeconds: 0,
  drainSeconds: 10,
};

await driver.run({ ...job, seconds: 3 });
longestHeldMs();
const alone = await driver.run({ ...job, seconds: ALONE_SECONDS });
const aloneHeldMs = longestHeldMs();
say(`Alone: ${loadText(alone)}, event loop held ${aloneHeldMs.toFixed(1)} ms at most`);

/** @type {Map<string, { ms: number[], heldMs: number }>} */
const times = new Map(questions.map(({ name }) => [name, { ms: [], heldMs: 0 }]));
const stopping = { now: false };
/** Questions come one after the other, each of all of them before the next round. */
async function askAll() {
  for (let round = 0; round < rounds; round++)
    for (const { name, paths } of questions) {
      const of = times.get(name);
      const beganMs = performance.now();
      // An answer is there with its last byte: what its reader makes of it is the reader's.
      await answerTo(paths[round % paths.length] ?? "");
      of?.ms.push(performance.now() - beganMs);
      await sleep(20);
      if (of !== undefined) of.heldMs = Math.max(of.heldMs, longestHeldMs());
    }
}
/** In pieces, for how long all questions take is not known before. */
async function serve() {
  const loads = [];
  while (!stopping.now) loads.push(await driver.run({ ...job, seconds: PIECE_SECONDS }));
  return loads;
}
const serving = serve();
await askAll();
stopping.now = true;
const loads = await serving;

const rows = [...times].map(([name, { ms, heldMs }]) => {
  const [first = 0, ...later] = ms;
  const sorted = later.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { name, first, p50: at(0.5), p95: at(0.95), heldMs };
});
const cells = rows.map(({ name, first, p50, p95, heldMs }) => [
  name,
  ...[first, p50, p95, heldMs].map((ms) => ms.toFixed(1)),
]);
say(alignedText([["question", "first ms", "p50 ms", "p95 ms", "loop held ms"], ...cells]));
say(`Meanwhile: ${loadText(sumOf(loads))}`);
const slow = rows.filter(({ p95 }) => p95 > GOAL.p95Ms).map(({ name }) => name);
const held = Math.max(...rows.map(({ heldMs }) => heldMs));
const missed = slow.length > 0 ? `; not: ${slow.join("; ")}` : "";
say(`${rows.length - slow.length} of ${rows.length} questions under ${GOAL.p95Ms} ms p95${missed}`);
say(`Longest stall: ${held.toFixed(1)} ms (goal ${GOAL.stallMs} ms; ${aloneHeldMs.toFixed(1)} ms without questions)`);
await gateway.stop();
await mock.stop();
driver.stop();
if (options.strict && (slow.length > 0 || held > GOAL.stallMs)) process.exitCode = 1;

/** @param {import("./load.mjs").Load} load */
function loadText({ ok, failed, seconds, whole, problems }) {
  const wrong = failed === 0 ? "" : `, ${failed} failed (${problems[0] ?? ""})`;
  const spread = `p50 ${whole.p50.toFixed(1)} ms, p99 ${whole.p99.toFixed(1)} ms`;
  return `${(ok / seconds).toFixed(0)} requests/s, ${spread}${wrong}`;
}

/** @param {import("./load.mjs").Load[]} all @returns {import("./load.mjs").Load} */
function sumOf(all) {
  const [first] = all;
  if (first === undefined) throw new Error("nothing was served");
  const sum = (/** @type {"ok" | "failed" | "seconds"} */ name) => all.reduce((of, load) => of + load[name], 0);
  const worst = (/** @type {"p50" | "p99"} */ name) => Math.max(...all.map(({ whole }) => whole[name]));
  const whole = { ...first.whole, p50: worst("p50"), p99: worst("p99") };
  const problems = all.flatMap((load) => load.problems);
  return { ...first, ok: sum("ok"), failed: sum("failed"), seconds: sum("seconds"), whole, problems };
}
