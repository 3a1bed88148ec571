/** The proof of a ledger finds what was changed behind the ledger's back. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSnapshot } from "../../src/store/sqlite-file.js";
import { verifyDatabase } from "../../src/store/sqlite-verify.js";
import { openSqliteStore } from "../../src/store/sqlite.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { openForTest, temporaryDirectory } from "./directory.js";

const parent = mkdtempSync(join(tmpdir(), "tollgate-"));
const original = join(parent, "data");
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** A ledger with a request in every state, closed. The settlement of `late` came after its expiry. */
beforeAll(async () => {
  const directory = original;
  const store = await openSqliteStore({ directory });
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS });
  const requestIds = ["settled", "over", "voided", "expired", "late", "recovered", "held"];
  const expireTimeMs = (id: string): number => (id === "expired" || id === "late" ? NOON_MS : NOON_MS + 60_000);
  await store.ledger.commit([
    creditOf(100n),
    ...requestIds.map((requestId) => holdOf({ requestId, expireTimeMs: expireTimeMs(requestId), nodeId: requestId })),
    { kind: "beat", nodeId: "held", nowMs: NOON_MS, leaseUntilMs: NOON_MS + 15_000 },
    settleOf({ requestId: "settled" }),
    settleOf({ requestId: "over", costNanos: 13n }),
    voidOf({ requestId: "voided" }),
    checkpointOf({ requestId: "recovered" }),
  ]);
  await store.ledger.commit([{ kind: "recover", nodeId: "held", nowMs: NOON_MS + 1 }, settleOf({ requestId: "late" })]);
  await store.close();
});

function copyOfLedger(): string {
  const directory = temporaryDirectory();
  cpSync(original, directory, { recursive: true });
  return directory;
}

function problemsOf(directory: string): readonly string[] {
  const snapshot = openSnapshot(directory);
  const report = verifyDatabase(snapshot.database);
  snapshot.close();
  expect(report.holds).toBe(report.problems.length === 0);
  return report.problems;
}

function problemsAfter(sql: string): readonly string[] {
  const directory = copyOfLedger();
  const database = new Database(join(directory, "tollgate.db"));
  database.pragma("foreign_keys = OFF");
  database.pragma("ignore_check_constraints = ON");
  for (const trigger of ["transfer_update", "transfer_delete", "usage_update", "usage_delete"])
    database.exec(`DROP TRIGGER ${trigger}`);
  database.exec(sql);
  database.close();
  return problemsOf(directory);
}

test("a sound ledger holds, and the proof says what it counted", async () => {
  const store = await openForTest({ directory: copyOfLedger() });
  expect(await store.ledger.verify()).toEqual({
    holds: true,
    problems: [],
    accountCount: 4,
    transferCount: 16,
    openHoldCount: 1,
  });
});

test.each([
  ["UPDATE transfer SET posted_nanos = 5 WHERE id = 's:settled'", "(s:settled) was changed"],
  ["UPDATE transfer SET create_time_ms = 1 WHERE id = 'h:over'", "(h:over) was changed"],
  ["UPDATE transfer SET account_id = 'zeta' WHERE id = 'c:c1'", "The transfer 1 (c:c1) was changed"],
  ["UPDATE transfer SET hash = zeroblob(32) WHERE id = 's:settled'", "(s:settled) was changed"],
  ["UPDATE transfer SET previous_hash = zeroblob(32) WHERE id = 's:over'", "(s:over) does not carry the hash"],
  ["DELETE FROM transfer WHERE id = 'c:c1'", "The transfer 2 (h:settled) follows transfer 0"],
  ["DELETE FROM transfer WHERE id = 's:late'", "The request late is settled, but its transfers say otherwise"],
  ["UPDATE account SET credits_posted = 1000 WHERE id = 'acme'", "The account acme does not equal its transfers"],
  ["UPDATE account SET credits_posted = 1000 WHERE id = 'acme'", "All accounts together do not come to zero"],
  ["UPDATE account SET debits_posted = 1000 WHERE id = 'acme'", "The account acme is below zero"],
  [
    "UPDATE account SET debits_pending = 9 WHERE id = 'acme'",
    "The account acme has 9 pending, but its open holds are 10",
  ],
  ["DELETE FROM account WHERE id = 'operator:overage'", "The account operator:overage does not equal its transfers"],
  ["UPDATE hold SET state = 'held', end_time_ms = NULL WHERE request_id = 'voided'", "The request voided is held"],
  [
    "UPDATE hold SET charged_nanos = 1 WHERE request_id = 'settled'",
    "The request settled is settled, but its transfers",
  ],
  ["UPDATE hold SET amount_nanos = 9 WHERE request_id = 'held'", "The hold of the request held is 9"],
  ["DELETE FROM hold WHERE request_id = 'expired'", "The request expired is unknown"],
  ["DELETE FROM usage WHERE request_id = 'settled'", "The request settled is settled, but has no usage row"],
  ["UPDATE usage SET cost_nanos = 1 WHERE request_id = 'over'", "The request over is settled, but its usage row"],
  ["UPDATE usage SET request_id = 'held' WHERE request_id = 'late'", "The request held is held, but its usage row"],
  [
    "UPDATE budget SET spent_nanos = 0 WHERE period = 'day'",
    "The counter of the key key_1 (day 2026-11-21) does not equal",
  ],
  ["DELETE FROM budget WHERE period = 'total'", "The counter of the key key_1 (total) does not equal"],
  ["UPDATE usage_day SET output_tokens = 1", "The usage of 2026-11-21 (account acme, key key_1, model sim-1)"],
])("%s is found", (sql, problem) => {
  expect(problemsAfter(sql).join("\n")).toContain(problem);
});

test("one flipped bit of the file is found, and its transfer named", () => {
  const directory = copyOfLedger();
  const path = join(directory, "tollgate.db");
  const database = new Database(path);
  const hash = database.prepare<[], Buffer>("SELECT hash FROM transfer WHERE id = 's:settled'").pluck().get();
  database.close();
  const bytes = readFileSync(path);
  const at = bytes.indexOf(hash ?? "missing");
  expect(at).toBeGreaterThan(0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect(problemsOf(directory).join("\n")).toMatch(/The transfer \d+ \((s:settled|s:over)\)/);
});

test("a proof runs beside the writer and sees whole batches", async () => {
  const store = await openForTest({ directory: copyOfLedger() });
  const writing = (async () => {
    for (let index = 0; index < 200; index += 1) {
      const requestId = `beside_${index}`;
      await store.ledger.commit([holdOf({ requestId, amountNanos: 1n })]);
      await store.ledger.commit([settleOf({ requestId, costNanos: 0n })]);
    }
  })();
  const reports = [await store.ledger.verify(), await store.ledger.verify()];
  await writing;
  expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
});
