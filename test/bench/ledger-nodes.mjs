/**
 * One hot account on PostgreSQL: the cycles (a hold and its settlement) that three nodes do together, in batches,
 * beside one transaction for each call. TOLLGATE_TEST_DATABASE_URL names a server whose user may make databases; else
 * one is started. Needs a build.
 * Run: ledger-nodes [--ms 3000] [--rounds 3] [--callers 64] [--build dist].
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";

const { values: options } = parseArgs({
  options: {
    ms: { type: "string", default: "3000" },
    rounds: { type: "string", default: "3" },
    callers: { type: "string", default: "64" },
    build: { type: "string", default: "dist" },
    /** Set for a child: how it commits, on which database, under which name. */
    node: { type: "string" },
    how: { type: "string", default: "batches" },
    url: { type: "string", default: "" },
  },
});
const NODES = 3;
/** How many connections a node has for one transaction a call. */
const CONNECTIONS = 8;

const HOLD = {
  kind: "hold",
  accountId: "acme",
  keyId: "key_1",
  model: "gpt-5.4-mini",
  amountNanos: 2_000_000n,
  leastNanos: 1n,
  budgets: [],
  price: new Uint8Array(40),
};
const SETTLE = {
  kind: "settle",
  usage: {
    inputTokens: 812n,
    cacheReadTokens: 0n,
    cacheWriteTokens: 0n,
    cacheWrite1hTokens: 0n,
    outputTokens: 164n,
    reasoningTokens: 0n,
    imageTokens: 0n,
    audioInputTokens: 0n,
    audioOutputTokens: 0n,
  },
  usageSource: 1,
  costNanos: 531_000n,
  operatorCostNanos: 400_000n,
  upstream: "openai",
  attempts: 1,
  attemptLog: '[["","","",200,1,812,140]]',
};

/** @param {string} path */
const load = (path) => import(resolve(options.build, "src", path));

/** One node: its callers do cycles until the time is over. Prints how many. */
async function node() {
  const { Postgres } = await load("store/postgres/connection.js");
  const { Batches } = await load("store/postgres/batches.js");
  const { LedgerWriter } = await load("ledger/writer.js");
  /** @type {any[]} */
  const databases = [];
  /** @param {number} index */
  const batches = async (index) => {
    const database = await Postgres.open(options.url);
    databases.push(database);
    return new Batches(database, `${options.node}-${index}`);
  };
  /** @type {(operation: object) => Promise<unknown>} */
  let submit;
  if (options.how === "batches") {
    const one = await batches(0);
    const writer = new LedgerWriter((/** @type {readonly object[]} */ operations) => one.commit(operations));
    submit = (operation) => writer.submit(operation);
  } else {
    const all = await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => batches(index)));
    let next = 0;
    submit = (operation) => all[next++ % CONNECTIONS].commit([operation]);
  }
  const endMs = performance.now() + Number(options.ms);
  let [cycles, made] = [0, 0];
  const caller = async () => {
    while (performance.now() < endMs) {
      const requestId = `${options.node}-${made++}`;
      const nowMs = Date.now();
      await submit({ ...HOLD, requestId, nodeId: options.node, nowMs, expireTimeMs: nowMs + 660_000 });
      if (performance.now() < endMs) cycles += 0.5;
      await submit({ ...SETTLE, requestId, nowMs });
      if (performance.now() < endMs) cycles += 0.5;
    }
  };
  await Promise.all(Array.from({ length: Number(options.callers) }, caller));
  await Promise.all(databases.map((database) => database.close()));
  process.stdout.write(`${cycles}\n`);
}

async function server() {
  const named = process.env["TOLLGATE_TEST_DATABASE_URL"];
  if (named !== undefined) return named;
  const root = "/usr/lib/postgresql";
  const [version] = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  const directory = mkdtempSync(join(tmpdir(), "tollgate-bench-postgres-"));
  const keeper = fileURLToPath(new URL("../support/postgres-keeper.mjs", import.meta.url));
  const bin = join(root, version ?? "", "bin");
  spawn(process.execPath, [keeper, directory, String(process.pid), bin], { detached: true, stdio: "ignore" }).unref();
  while (!existsSync(join(directory, "url"))) await sleep(100);
  return readFileSync(join(directory, "url"), "utf8");
}

/** The cycles a second of all nodes together, on a new database. @param {string} base @param {string} how */
async function turn(base, how) {
  const name = `tollgate_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client({ connectionString: base });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(base);
  url.pathname = `/${name}`;
  const { Postgres } = await load("store/postgres/connection.js");
  const { migrate } = await load("store/postgres/migration.js");
  const { MIGRATIONS } = await load("store/postgres/schema.js");
  const { createAccount } = await load("store/postgres/tables.js");
  const { Batches } = await load("store/postgres/batches.js");
  const database = await Postgres.open(url.href);
  await migrate(database, MIGRATIONS, []);
  const { gatewayAct } = await load("audit/act.js");
  await createAccount(database, { id: "acme", name: "acme", createTimeMs: 0 }, gatewayAct("bench", Date.now()));
  const act = gatewayAct("bench", Date.now());
  const credit = { kind: "credit", creditId: "c1", accountId: "acme", amountNanos: 10n ** 17n, nowMs: 0, act };
  await new Batches(database, "bench").commit([credit]);
  const nodes = Array.from({ length: NODES }, (_, index) => child(`node_${index}`, how, url.href));
  const cycles = (await Promise.all(nodes)).reduce((sum, count) => sum + count, 0);
  await database.close();
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.end();
  return (cycles * 1000) / Number(options.ms);
}

/** @param {string} name @param {string} how @param {string} url @returns {Promise<number>} */
function child(name, how, url) {
  const own = ["--node", name, "--how", how, "--url", url];
  const given = ["--ms", options.ms, "--callers", options.callers, "--build", options.build];
  const started = spawn(process.execPath, [fileURLToPath(import.meta.url), ...own, ...given], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  started.stdout.on("data", (data) => (text += String(data)));
  return new Promise((done, fail) => {
    started.once("exit", (code) => (code === 0 ? done(Number(text)) : fail(new Error(`a node ended with ${code}`))));
  });
}

/** @param {number[]} numbers */
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

if (options.node === undefined) {
  const base = await server();
  /** @type {number[][]} */
  const [together, apart] = [[], []];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    together?.push(await turn(base, "batches"));
    apart?.push(await turn(base, "calls"));
  }
  const [fast, slow] = [median(together ?? []), median(apart ?? [])];
  process.stdout.write(
    `one hot account, ${NODES} nodes of ${options.callers} callers: ${fast.toFixed(0)} cycles/s in batches,` +
      ` ${slow.toFixed(0)} with one transaction a call: ${(fast / slow).toFixed(1)} x\n`,
  );
} else await node();
