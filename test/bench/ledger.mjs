/**
 * The ledger's benchmark: durable operations a second at 1 to 256 callers, beside a bare loop of the same statements.
 * Run: `npm run bench:ledger -- [--rounds N] [--ms MS] [--beside BUILD] [--write-docs] [--strict]`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { alignedText, markdownText } from "./table.mjs";

const CALLERS = [1, 8, 32, 64, 256];
const GOAL = { callers: 32, operationsPerSecond: 30_000, holdP99Ms: 2, ofBare: 0.5, stallMs: 5 };
const DOCS = new URL("../../docs/ledger.md", import.meta.url);
const [BEGIN, END] = ["<!-- bench:begin -->", "<!-- bench:end -->"];

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    ms: { type: "string", default: "1000" },
    beside: { type: "string" },
    "write-docs": { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
  },
});
const loadBefore = loadavg()[0] ?? 0;

/**
 * One turn in a process of its own.
 * @param {string} script
 * @param {string} build
 * @param {number} callers
 * @returns {Record<string, number>}
 */
function turn(script, build, callers) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const output = execFileSync(process.execPath, [path, build, String(callers), options.ms], { encoding: "utf8" });
  return JSON.parse(output);
}

/**
 * @param {readonly Record<string, number>[]} turns
 * @param {string} name
 */
function median(turns, name) {
  const sorted = turns.map((one) => one[name] ?? Number.NaN).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const rows = CALLERS.map((callers) => {
  /** @type {{ ledger: Record<string, number>[], bare: Record<string, number>[], beside: Record<string, number>[] }} */
  const turns = { ledger: [], bare: [], beside: [] };
  for (let round = 0; round < Number(options.rounds); round++) {
    const ledger = turn("ledger-turn.mjs", "dist", callers);
    const bare = turn("ledger-bare.mjs", "dist", callers);
    ledger["ofBare"] = (ledger["operationsPerSecond"] ?? 0) / (bare["operationsPerSecond"] ?? 1);
    turns.ledger.push(ledger);
    turns.bare.push(bare);
    if (options.beside !== undefined) turns.beside.push(turn("ledger-turn.mjs", options.beside, callers));
  }
  return Object.assign(turns, { callers });
});

const head = ["callers", "operations/s", "bare loop", "of bare", "hold p50 ms", "hold p99 ms", "settle p99 ms"];
head.push("stall ms", "database CPU µs", "main CPU µs", "other CPU µs", "bare CPU µs");
if (options.beside !== undefined) head.push("database CPU µs before", "operations/s before");
const cells = rows.map(({ callers, ledger, bare, beside }) => {
  /** @type {(name: string, digits: number) => string} */
  const of = (name, digits) => median(ledger, name).toFixed(digits);
  const row = [
    String(callers),
    of("operationsPerSecond", 0),
    median(bare, "operationsPerSecond").toFixed(0),
    of("ofBare", 2),
    of("holdP50Ms", 2),
    of("holdP99Ms", 2),
    of("settleP99Ms", 2),
    of("stallMs", 1),
    of("databaseUs", 0),
    of("mainUs", 0),
    of("restUs", 0),
    median(bare, "cpuUs").toFixed(0),
  ];
  if (options.beside === undefined) return row;
  return [...row, median(beside, "databaseUs").toFixed(0), median(beside, "operationsPerSecond").toFixed(0)];
});

const judged = rows.find(({ callers }) => callers === GOAL.callers)?.ledger ?? [];
const [perSecond, p99Ms] = [median(judged, "operationsPerSecond"), median(judged, "holdP99Ms")];
const [ofBare, stallMs] = [median(judged, "ofBare"), median(judged, "stallMs")];
const isFast = (perSecond >= GOAL.operationsPerSecond && p99Ms <= GOAL.holdP99Ms) || ofBare >= GOAL.ofBare;
const isSmooth = stallMs <= GOAL.stallMs;
const said = `${perSecond.toFixed(0)} operations/s, p99 ${p99Ms.toFixed(2)} ms, ${ofBare.toFixed(2)} of the bare loop`;
const goals = [
  `${isFast ? "holds" : "MISSED"}: 30,000 operations/s with a p99 of 2 ms, or half of the bare loop: ${said}`,
  `${isSmooth ? "holds" : "MISSED"}: the main loop never stalls over ${GOAL.stallMs} ms: ${stallMs.toFixed(1)} ms`,
];
const machine = `Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? "?"}`;
const rounds = `medians of ${options.rounds} rounds of ${options.ms} ms`;
const circumstances = `${machine}, load ${loadBefore.toFixed(2)} before; ${rounds}.`;
process.stdout.write(`${circumstances}\n\n${alignedText([head, ...cells])}\n\n${goals.join("\n")}\n`);

if (options["write-docs"]) {
  const text = readFileSync(DOCS, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/ledger.md has no ${BEGIN} before ${END}`);
  const table = markdownText([head, ...cells]);
  const list = goals.map((goal) => `- at ${GOAL.callers} callers ${goal}`).join("\n");
  writeFileSync(
    DOCS,
    `${text.slice(0, begin)}${BEGIN}\n\n${circumstances}\n\n${table}\n\n${list}\n\n${text.slice(end)}`,
  );
}
if (options.strict && !(isFast && isSmooth)) process.exitCode = 1;
