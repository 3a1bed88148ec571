/**
 * Fills a data directory with requests of the last days: each through the ledger, at the time at which it ended, and
 * with its record by the engine that stores records, so that both say the same of all.
 * Run: records-seed DIRECTORY COUNT DAYS. Prints one line of JSON.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

const [directory = "", countText = "1000000", daysText = "30"] = process.argv.slice(2);
const [count, days] = [Number(countText), Number(daysText)];
const CALLERS = 256;
const BATCH_ROWS = 16_384;
const ACCOUNTS = 50;
const KEYS_EACH = 4;
const MODELS = 20;
const USERS = 2_000;
/** One of so many is refused before money is set aside, and one of so many fails after it. */
const REFUSED_EACH = 20;
const FAILED_EACH = 40;
const REASONS = ["RATE_LIMITED", "BALANCE_TOO_LOW", "MODEL_NOT_ALLOWED", "PARAMETER_INVALID"];

/** @param {string} path */
const load = (path) => import(resolve("dist/src", path));
const { Ledger } = await load("ledger/ledger.js");
const { openSqliteStore } = await load("store/sqlite/store.js");
const { openSqliteChunks } = await load("records/sqlite-chunks.js");
const { Engine } = await load("records/engine.js");
const { BatchBuilder } = await load("records/row-batch.js");
const { COLUMNS, NUMBERS, FLAG, storedTime } = await load("records/columns.js");
const { Price, UsageSource } = await load("api/index.js");
const { NO_USAGE } = await load("api/usage.js");
const { gatewayAct } = await load("audit/act.js");

mkdirSync(directory, { recursive: true });
const endMs = Date.now() - 60_000;
const startMs = endMs - days * 86_400_000;
let nowMs = startMs;
const store = await openSqliteStore({ directory });
const ledger = new Ledger({ store, nodeId: "seed", nowMs: () => nowMs });
const engine = new Engine(openSqliteChunks(directory));
await ledger.start();
const act = gatewayAct("bench", startMs);
for (let at = 0; at < ACCOUNTS; at++) {
  const accountId = `acct-${at}`;
  await ledger.createAccount({ id: accountId, name: `Account ${at}` }, act);
  await ledger.credit({ creditId: `c-${at}`, accountId, amountNanos: 10n ** 16n, act });
}

const price = Price.decode(new Uint8Array());
const numbers = new Set(NUMBERS);
const nothing = Object.fromEntries(COLUMNS.map((/** @type {string} */ name) => [name, numbers.has(name) ? 0 : ""]));
/** Numbers without a pattern, and the same in each run. */
let state = 1;
/** @param {number} below */
const random = (below) => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
/** The time from arrival to the end, of which most are short. */
const durationMs = () => 80 + random(400) + (random(10) === 0 ? random(8_000) : 0);

let next = 0;
let costNanos = 0n;
const batch = new BatchBuilder();
const storeFull = async () => {
  if (batch.count >= BATCH_ROWS) await engine.append(batch.take());
};

/** @param {number} at */
function describe(at) {
  const account = random(ACCOUNTS);
  const key = account * KEYS_EACH + random(KEYS_EACH);
  const totalMs = durationMs();
  const timeMs = Math.floor(startMs + ((endMs - startMs) * at) / count);
  const firstMs = totalMs / 4;
  return {
    ...nothing,
    id: `req_${(timeMs - totalMs).toString(16).padStart(12, "0")}${at.toString(16).padStart(20, "0")}`,
    endTimeMs: timeMs,
    status: 200,
    total: storedTime(totalMs),
    account: `acct-${account}`,
    key: `key_${String(key).padStart(8, "0")}`,
    // A key uses few of the models.
    model: `model-${(key * 7 + random(3)) % MODELS}`,
    path: "/v1/chat/completions",
    format: "openai-chat",
    endUser: `user-${random(USERS)}`,
    tags: `team=t${random(20)}\nenv=${random(2) === 0 ? "prod" : "test"}`,
    client: "OpenAI/Python 1.109.0",
    address: `192.0.2.${random(200)}`,
    session: `s-${random(100_000)}`,
    clientRequestId: `client-${at}`,
    queue: storedTime(1),
    firstToken: storedTime(firstMs),
    upstreamTime: storedTime(totalMs - 2),
  };
}

/** @param {number} at */
async function make(at) {
  const row = describe(at);
  if (random(REFUSED_EACH) === 0) {
    const times = { total: storedTime(1.5), queue: 0, firstToken: 0, upstreamTime: 0 };
    batch.push({ ...row, ...times, status: 400 + random(30), reason: REASONS[random(REASONS.length)] });
    return;
  }
  nowMs = row.endTimeMs;
  const usage = { ...NO_USAGE, inputTokens: BigInt(50 + random(4_000)), outputTokens: BigInt(1 + random(900)) };
  const cost = usage.inputTokens * 250n + usage.outputTokens * 2_000n;
  const { id: requestId, account: accountId, key: keyId, model } = row;
  const amounts = { amountNanos: 4_000_000n, leastNanos: 4_000_000n };
  const asked = { requestId, accountId, keyId, model, ...amounts, budgets: [], price, timeoutMs: 600_000 };
  const hold = await ledger.hold(asked);
  const upstream = `up-${random(5)}`;
  const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
  const paid = { costNanos: cost, operatorCostNanos: cost / 2n, upstream, attempts: 1, attemptLog: "[]" };
  // Both days are that of the end.
  nowMs = row.endTimeMs;
  const outcome = await hold.settle({ usage, usageSource, ...paid }, true);
  const isFailed = random(FAILED_EACH) === 0;
  costNanos += cost;
  batch.push({
    ...row,
    flags: FLAG.answered | FLAG.costKnown | (random(2) === 0 ? FLAG.streamed : 0),
    status: isFailed ? 502 : 200,
    reason: isFailed ? "UPSTREAM_FAILED" : "",
    attempts: 1,
    usageSource,
    costNanos: Number(cost),
    chargedNanos: Number(outcome.chargedNanos),
    operatorCostNanos: Number(cost / 2n),
    inputTokens: Number(usage.inputTokens),
    outputTokens: Number(usage.outputTokens),
    upstream,
    upstreamModel: model,
  });
}

const beganMs = performance.now();
const work = async () => {
  while (next < count) {
    await make(next++);
    await storeFull();
  }
};
await Promise.all(Array.from({ length: CALLERS }, work));
if (batch.count > 0) await engine.append(batch.take());
await engine.close();
await ledger.close();
await store.close();
const seconds = (performance.now() - beganMs) / 1_000;
process.stdout.write(`${JSON.stringify({ count, seconds, costNanos: String(costNanos) })}\n`);
