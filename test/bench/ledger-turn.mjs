/**
 * One turn of the ledger's benchmark, in a process of its own: callers that hold and settle on an embedded ledger.
 * Run: ledger-turn BUILD CALLERS MS. Prints one line of JSON.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { latencyOf } from "./latency.mjs";

const [build = "dist", callersText = "32", msText = "1000"] = process.argv.slice(2);
const [callers, turnMs] = [Number(callersText), Number(msText)];
const WARM_MS = 1_500;
const STALL_LOOK_MS = 1;

/** @param {string} path */
const load = (path) => import(resolve(build, "src", path));
const { Ledger } = await load("ledger/ledger.js");
const { openSqliteStore } = await load("store/sqlite/store.js");
const { Price, UsageSource } = await load("api/index.js");

const directory = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
const threadsBefore = new Set(readdirSync("/proc/self/task"));
const store = await openSqliteStore({ directory });
// The database's thread is the one that its store started; V8's helpers were there before.
const databaseThread = readdirSync("/proc/self/task").find((id) => !threadsBefore.has(id)) ?? "";
const ledger = new Ledger({ store, nodeId: "node_1", nowMs: Date.now });
await ledger.start();
// A build of before knows of no acts.
const act = await load("audit/act.js").then(
  ({ gatewayAct }) => gatewayAct("bench", Date.now()),
  () => undefined,
);
await ledger.createAccount({ id: "acme", name: "Acme" }, act);
await ledger.credit({ creditId: "c1", accountId: "acme", amountNanos: 10n ** 17n, act });

const price = Price.decode(new Uint8Array());
const usage = {
  inputTokens: 812n,
  cacheReadTokens: 0n,
  cacheWriteTokens: 0n,
  cacheWrite1hTokens: 0n,
  outputTokens: 164n,
  reasoningTokens: 0n,
  imageTokens: 0n,
  audioInputTokens: 0n,
  audioOutputTokens: 0n,
};
const budgets = [{ owner: "key", period: "day", limitNanos: 10n ** 17n }];
const request = {
  accountId: "acme",
  keyId: "key_01k9zzzzzzzzzzzzzzzz",
  model: "gpt-5.4-mini",
  amountNanos: 2_000_000n,
  leastNanos: 2_000_000n,
  budgets,
  price,
  timeoutMs: 600_000,
};
const settlement = {
  usage,
  usageSource: UsageSource.USAGE_SOURCE_REPORTED,
  costNanos: 531_000n,
  upstream: "openai",
  attempts: 1,
  attemptLog: '[["","","",200,1,812,140]]',
};

let cycles = 0;
let made = 0;
const state = { running: true };
/** @type {number[]} */
const holdMs = [];
/** @type {number[]} */
const settleMs = [];

// As the gateway does: it waits for the hold, and goes on while the settlement is on its way.
const run = async () => {
  let settled = Promise.resolve();
  while (state.running) {
    made += 1;
    const requestId = Date.now().toString(16).padStart(12, "0") + made.toString(16).padStart(20, "0");
    const beforeMs = performance.now();
    const hold = await ledger.hold({ requestId, ...request });
    const heldMs = performance.now();
    holdMs.push(heldMs - beforeMs);
    await settled;
    settled = hold.settle(settlement, true).then((outcome) => {
      if (outcome?.chargedNanos !== settlement.costNanos) throw new Error("a settlement was not taken");
      settleMs.push(performance.now() - heldMs);
      cycles += 1;
    });
  }
  await settled;
};

/** CPU time of a thread, in microseconds. @param {string} task */
const threadUs = (task) => Number(readFileSync(`/proc/self/task/${task}/schedstat`, "utf8").split(" ")[0]) / 1000;
const used = () => {
  const { user, system } = process.cpuUsage();
  return { all: user + system, main: threadUs(String(process.pid)), database: threadUs(databaseThread) };
};

const ended = Array.from({ length: callers }, run);
await new Promise((done) => setTimeout(done, WARM_MS));
const stalls = monitorEventLoopDelay({ resolution: STALL_LOOK_MS });
stalls.enable();
[holdMs.length, settleMs.length] = [0, 0];
const before = { ...used(), cycles, ms: performance.now() };
await new Promise((done) => setTimeout(done, turnMs));
const after = { ...used(), cycles, ms: performance.now() };
const hold = latencyOf([...holdMs]);
const settle = latencyOf([...settleMs]);
stalls.disable();
state.running = false;
await Promise.all(ended);

const report = await ledger.verify();
if (!report.holds || report.openHoldCount > 0)
  throw new Error(`the ledger does not hold: ${report.problems.join(" ")}`);
const { spentNanos } = await ledger.balance("acme");
if (spentNanos !== BigInt(cycles) * settlement.costNanos)
  throw new Error("the account did not pay for what was settled");
await ledger.close();
await store.close();
rmSync(directory, { recursive: true, force: true });

const done = after.cycles - before.cycles;
const [main, database] = [(after.main - before.main) / done, (after.database - before.database) / done];
process.stdout.write(
  `${JSON.stringify({
    operationsPerSecond: (2 * done * 1000) / (after.ms - before.ms),
    databaseUs: database,
    mainUs: main,
    restUs: (after.all - before.all) / done - main - database,
    holdP50Ms: hold.p50,
    holdP99Ms: hold.p99,
    settleP99Ms: settle.p99,
    // What is above the pause between two looks.
    stallMs: Math.max(0, stalls.max / 1e6 - STALL_LOOK_MS),
    cycles: done,
  })}\n`,
);
