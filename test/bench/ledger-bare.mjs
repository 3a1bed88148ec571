/**
 * The floor under the ledger: its own statements in a bare loop of durable commits; nothing is decided,
 * hashed or sent.
 * Run: ledger-bare BUILD CALLERS MS. Prints one line of JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [build = "dist", callersText = "32", msText = "1000"] = process.argv.slice(2);
const [callers, turnMs] = [Number(callersText), Number(msText)];
const WARM_MS = 1_500;

/** @param {string} path */
const load = (path) => import(resolve(build, "src", path));
const { openSqliteFile } = await load("store/sqlite/file.js");
const { SqliteLog } = await load("store/sqlite/wal.js");
const { STATEMENTS } = await load("store/sqlite/book-writer.js");

const directory = mkdtempSync(join(tmpdir(), "tollgate-bare-"));
const file = openSqliteFile(directory, undefined);
const { database } = file;
/** @param {keyof typeof STATEMENTS} name */
const prepare = (name) => database.prepare(STATEMENTS[name]);
const [hold, openHold, closeHold] = [prepare("hold"), prepare("openHold"), prepare("closeHold")];
const [usage, usageDay, account, holdBudgets] = [
  prepare("usage"),
  prepare("usageDay"),
  prepare("account"),
  prepare("holdBudgets"),
];

const hash = Buffer.alloc(32, 7);
const price = Buffer.alloc(40, 3);
const tokens = [812n, 0n, 0n, 0n, 164n, 0n, 0n, 0n, 0n];
const attemptLog = '[["","","",200,1,812,140]]';
let sequence = 0;
/** @type {number[]} */
let open = [];

/** One commit, as one of the ledger's with so many callers: their holds, and the settlements of their holds before. */
const commit = database.transaction(() => {
  const nowMs = Date.now();
  const before = open;
  open = [];
  for (let count = 0; count < callers; count++) {
    sequence += 1;
    const requestId = nowMs.toString(16).padStart(12, "0") + sequence.toString(16).padStart(20, "0");
    const said = [sequence, "hold", "acme", sequence, sequence, null, 2_000_000n, 0n, nowMs, hash];
    const who = ["key_01k9zzzzzzzzzzzzzzzz", "gpt-5.4-mini", "node_1"];
    hold.run(...said, requestId, ...who, 2_000_000n, price, nowMs + 660_000);
    openHold.run(sequence, "node_1", nowMs + 660_000);
    open.push(sequence);
  }
  for (const held of before) {
    sequence += 1;
    const said = [sequence, "settle", "acme", sequence, held, null, -2_000_000n, 531_000n, nowMs, hash];
    usage.run(...said, 1, 0n, null, "openai", 1, ...tokens, attemptLog);
    closeHold.run(held);
  }
  account.run(sequence, 0n, sequence * 2, 0n, sequence, hash, "acme");
  const ofKey = ["day", "month", "total"].flatMap((period) => ["key", "key_1", period, "", sequence, sequence]);
  const ofAccount = ["day", "month"].flatMap((period) => ["account", "acme", period, "", sequence, sequence]);
  holdBudgets.run(...ofKey, ...ofAccount);
  usageDay.run("2026-11-21", "acme", "key_1", "gpt-5.4-mini", before.length, 531_000n, 0n, 0n, 0n, ...tokens);
});

/** @param {number} ms */
const loop = (ms) => {
  let cycles = 0;
  for (const endMs = performance.now() + ms; performance.now() < endMs; cycles += callers) {
    commit();
    log.sync();
  }
  return cycles;
};
commit();
const log = new SqliteLog(database);
loop(WARM_MS);
const startMs = performance.now();
const startUs = process.cpuUsage();
const cycles = loop(turnMs);
const used = process.cpuUsage(startUs);
const ms = performance.now() - startMs;
file.close();
rmSync(directory, { recursive: true, force: true });
const result = { operationsPerSecond: (2 * cycles * 1000) / ms, cpuUs: (used.user + used.system) / cycles };
process.stdout.write(`${JSON.stringify(result)}\n`);
