/** The proof of a ledger finds what was changed behind the ledger's back. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Postgres } from "../../src/store/postgres/connection.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { verifyWithin } from "../../src/store/postgres/verify.js";
import type { Store, VerifyReport } from "../../src/store/store.js";
import { openSnapshot } from "../../src/store/sqlite/database-file.js";
import { verifyDatabase } from "../../src/store/sqlite/verify.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { recover } from "../ledger/cases.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, usage as usageOf, voidOf } from "../ledger/operations.js";
import { openForTest } from "./directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { createDatabase, postgresMissing } from "../support/postgres.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";

const parent = mkdtempSync(join(tmpdir(), "tollgate-"));
const original = join(parent, "data");
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** The requests whose own node does not answer for them any more. */
const LET_GO: ReadonlySet<string> = new Set(["expired", "late"]);

const KEY = {
  accountId: "acme",
  settings: new Uint8Array([10, 1]),
  previousDigest: null,
  previousUntilMs: null,
  hint: "sk-a...b",
  createTimeMs: NOON_MS,
  revokeTimeMs: NOON_MS,
  revision: 1,
};
/** Keys of nobody, of another key, of a person, and of a person's key. */
const MADE = [
  { makerId: null },
  { makerId: "key_1" },
  { makerId: null, makerUserId: "user_1" },
  { makerId: "key_1", makerUserId: "user_1" },
] as const;

/** A request in every state. The settlement of `late` came after its node let it go. */
async function fill(store: Store): Promise<void> {
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  const requestIds = ["settled", "over", "voided", "expired", "late", "recovered", "held"];
  await store.accounts.create({ id: "other", name: "Other", createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit([
    creditOf(100n),
    creditOf(5n, { accountId: "other", creditId: "c2" }),
    ...requestIds.map((requestId) => holdOf({ requestId, nodeId: LET_GO.has(requestId) ? "held" : requestId })),
    { kind: "beat", nodeId: "held", nowMs: NOON_MS, isLast: false },
    settleOf({ requestId: "settled", operatorCostNanos: 1n }),
    settleOf({ requestId: "over", costNanos: 49n }),
    voidOf({ requestId: "voided", operatorCostNanos: 1n }),
    checkpointOf({ requestId: "recovered" }),
    checkpointOf({ requestId: "held", operatorCostNanos: 1n, usage: usageOf(3n) }),
  ]);
  for (const [at, made] of MADE.entries()) {
    const own = { id: `key_${at + 1}`, digest: new Uint8Array([at + 1]), ...made };
    await store.keys.create({ ...KEY, ...own }, TEST_EVENT);
  }
  const live = new Set(["held"]);
  await store.ledger.commit([recover({ nodeId: "held", live }), settleOf({ requestId: "late" })]);
  await store.close();
}

beforeAll(async () => fill(await openSqliteStore({ directory: original })));

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
  const database = new Sqlite(join(directory, "tollgate.db"));
  database.pragma("foreign_keys = OFF");
  database.pragma("ignore_check_constraints = ON");
  for (const table of ["transfer", "release", "audit_event"])
    database.exec(`DROP TRIGGER ${table}_update; DROP TRIGGER ${table}_delete`);
  database.exec(sql);
  database.close();
  return problemsOf(directory);
}

const SOUND = {
  holds: true,
  problems: [],
  accountCount: 2,
  transferCount: 17,
  openHoldCount: 1,
  auditEventCount: 8,
  archivedTransferCount: 0,
  archivedUntilMs: undefined,
};

test("a sound ledger holds, and the proof says what it counted", async () => {
  const store = await openForTest({ directory: copyOfLedger() });
  expect(await store.ledger.verify()).toEqual(SOUND);
});

/** The hold of a request, and the transfer of a kind that it caused. */
const of = (requestId: string): string => `(SELECT sequence FROM hold WHERE request_id = '${requestId}')`;
/** Where a request's usage is. */
const usage = (requestId: string): string => `usage_source IS NOT NULL AND hold_sequence = ${of(requestId)}`;
const transfer = (kind: string, requestId: string): string => `kind = '${kind}' AND hold_sequence = ${of(requestId)}`;

const TAMPERED: readonly (readonly [sql: string, problem: string])[] = [
  [`UPDATE transfer SET posted_nanos = 5 WHERE ${transfer("settle", "settled")}`, "(s:settled) was changed"],
  [`UPDATE transfer SET create_time_ms = 1 WHERE ${transfer("hold", "over")}`, "(h:over) was changed"],
  [
    "UPDATE transfer SET account_id = 'zeta' WHERE credit_id = 'c1'",
    "The account zeta has transfers, but is not there",
  ],
  [
    "UPDATE transfer SET account_id = 'other', account_sequence = 2 WHERE credit_id = 'c1'",
    "The transfer 1 (c:c1) was changed",
  ],
  ["UPDATE transfer SET account_sequence = 99 WHERE credit_id = 'c2'", "(c:c2) is number 99 of its account"],
  ["UPDATE transfer SET sequence = 99 WHERE credit_id = 'c2'", "(c:c2) was changed"],
  [
    "UPDATE account SET chain_sequence = 2 WHERE id = 'other'",
    "The account other says that its last transfer is number 2",
  ],
  [
    "UPDATE account SET chain_hash = zeroblob(32) WHERE id = 'other'",
    "The account other says that its last transfer is",
  ],
  ["DELETE FROM transfer WHERE credit_id = 'c2'", "The account other says that its last transfer is number 1"],
  ["UPDATE operator_total SET nanos = 104 WHERE kind = 'granted'", "The operator's total granted does not equal"],
  ["INSERT INTO operator_total VALUES ('overage', 7, 2)", "The operator's total overage does not equal"],
  ["UPDATE account SET debited_nanos = 1 WHERE id = 'acme'", "The account acme does not equal its transfers"],
  [`UPDATE transfer SET hash = zeroblob(32) WHERE ${transfer("settle", "settled")}`, "(s:settled) was changed"],
  ["DELETE FROM transfer WHERE credit_id = 'c1'", "(h:settled) is number 2 of its account and follows number 0"],
  [`DELETE FROM transfer WHERE ${transfer("settle", "late")}`, "The account acme does not equal its transfers"],
  ["UPDATE transfer SET model = 'sim-2' WHERE request_id = 'over'", "(h:over) was changed"],
  ["UPDATE transfer SET price = zeroblob(2) WHERE request_id = 'over'", "(h:over) was changed"],
  ["UPDATE transfer SET request_id = 'else' WHERE request_id = 'over'", "(h:else) was changed"],
  [`UPDATE transfer SET upstream = 'mis' WHERE ${usage("over")}`, "(s:over) was changed"],
  [`UPDATE transfer SET input_tokens = 1 WHERE ${usage("voided")}`, "(v:voided) was changed"],
  [`UPDATE transfer SET attempt_log = '[]' WHERE ${usage("voided")}`, "(v:voided) was changed"],
  [`UPDATE transfer SET attempt_log = NULL WHERE ${usage("over")}`, "(s:over) was changed"],
  ...["x", "[1]", '["x"]', "{}", '[["search_unit","",1.5]]', '[["search_unit","",-1]]', '[["search_unit"]]'].map(
    (meters) => [`UPDATE transfer SET meters = '${meters}' WHERE ${usage("over")}`, "(s:over) was changed"] as const,
  ),
  [`UPDATE transfer SET attempt_log = '' WHERE ${usage("recovered")}`, "(s:recovered) was changed"],
  ["UPDATE account SET credits_posted = 1000 WHERE id = 'acme'", "The account acme does not equal its transfers"],
  ["UPDATE account SET debits_posted = 1000 WHERE id = 'acme'", "The account acme is below zero"],
  [
    "UPDATE account SET debits_pending = 9 WHERE id = 'acme'",
    "The account acme has 9 pending, but its open holds and leases are 10",
  ],
  ["UPDATE account SET name = 'Acme, Inc.' WHERE id = 'acme'", "The account acme was changed: its digest"],
  ["UPDATE account SET budget_day_nanos = 1 WHERE id = 'acme'", "The account acme was changed: its digest"],
  ["UPDATE account SET tokens_per_minute = 1 WHERE id = 'acme'", "The account acme was changed: its digest"],
  ["UPDATE account SET model_limits = x'4200' WHERE id = 'acme'", "The account acme was changed: its digest"],
  ["UPDATE checkpoint SET cost_nanos = 1", "The checkpoint of the hold"],
  [
    "UPDATE checkpoint SET operator_cost_nanos = NULL, meters = '1' WHERE operator_cost_nanos = 1 AND meters IS NULL",
    "The checkpoint of the hold",
  ],
  ["UPDATE checkpoint SET operator_cost_nanos = NULL", "The checkpoint of the hold"],
  [`UPDATE transfer SET operator_cost_nanos = 2 WHERE ${usage("settled")}`, "(s:settled) was changed"],
  [`UPDATE transfer SET operator_cost_nanos = NULL WHERE ${usage("voided")}`, "(v:voided) was changed"],
  [`UPDATE transfer SET operator_cost_nanos = 2 WHERE ${usage("over")}`, "(s:over) was changed"],
  ["UPDATE transfer SET operator_cost_nanos = 2 WHERE request_id = 'over'", "carries a part of a record that is not"],
  ["UPDATE usage_day SET operator_cost_nanos = 1", "The usage of 2026-11-21 (account acme, key key_1, model sim-1)"],
  ["UPDATE usage_day SET margin_nanos = 4", "The usage of 2026-11-21 (account acme, key key_1, model sim-1)"],
  ["UPDATE key SET settings = zeroblob(2)", "The key key_1 was changed: its digest does not fit it"],
  ["UPDATE key SET maker_user_id = 'user_2' WHERE id = 'key_3'", "The key key_3 was changed: its digest does not fit"],
  ["UPDATE key SET maker_user_id = NULL WHERE id = 'key_4'", "The key key_4 was changed: its digest does not fit"],
  ["UPDATE key SET revoke_time_ms = NULL", "The key key_1 was changed: its digest does not fit it"],
  ["DELETE FROM operator_total WHERE kind = 'overage'", "The operator's total overage does not equal"],
  ["DELETE FROM account WHERE id = 'other'", "The account other has transfers, but is not there"],
  [
    `INSERT INTO open_hold VALUES (${of("voided")}, 'voided', 1)`,
    "The hold of the request voided is not open, but the list",
  ],
  ["DELETE FROM open_hold", "The hold of the request held is open, but the list of open holds says otherwise"],
  ["UPDATE open_hold SET expire_time_ms = 1", "The hold of the request held is open, but the list"],
  [`UPDATE transfer SET posted_nanos = 1 WHERE ${usage("settled")}`, "(s:settled) was changed"],
  ["UPDATE transfer SET pending_nanos = 9 WHERE request_id = 'held'", "(h:held) was changed"],
  ["UPDATE transfer SET pending_nanos = 9 WHERE request_id = 'held'", "The account acme has 10 pending"],
  ["DELETE FROM transfer WHERE request_id = 'expired'", "(h:late) is number 6 of its account and follows number 4"],
  ["DELETE FROM transfer WHERE request_id = 'expired'", "The request ? is unknown, but its transfers say otherwise"],
  [
    `UPDATE transfer SET usage_source = NULL WHERE ${usage("settled")}`,
    "The request settled is held, but its transfers say otherwise",
  ],
  [`UPDATE transfer SET usage_source = NULL WHERE ${usage("settled")}`, "(s:settled) was changed"],
  [`UPDATE transfer SET hold_sequence = ${of("held")} WHERE ${usage("late")}`, "(s:held) was changed"],
  [`UPDATE transfer SET usage_source = 1 WHERE ${transfer("expire", "expired")}`, "(x:expired) was changed"],
  [`UPDATE transfer SET request_id = 'new' WHERE ${transfer("overage", "over")}`, "(o:over) was changed"],
  [
    "UPDATE transfer SET node_id = 'node_9' WHERE credit_id = 'c1'",
    "The transfer 1 carries a part of a record that is not its own",
  ],
  [
    `UPDATE transfer SET output_tokens = 1 WHERE ${transfer("hold", "over")}`,
    "carries a part of a record that is not its own",
  ],
  [`DELETE FROM release WHERE hold_sequence = ${of("expired")}`, "The request expired is held, but its transfers"],
  [`UPDATE release SET kind = 'void' WHERE hold_sequence = ${of("expired")}`, "The release of the hold"],
  [
    "UPDATE budget SET spent_nanos = 0 WHERE owner = 'key' AND period = 'day'",
    "The counter of the key key_1 (day 2026-11-21) does not equal",
  ],
  [
    "UPDATE budget SET spent_nanos = 0 WHERE owner = 'account' AND period = 'month'",
    "The counter of the account acme (month 2026-11) does not equal",
  ],
  ["DELETE FROM budget WHERE period = 'total'", "The counter of the key key_1 (total) does not equal"],
  ["DELETE FROM audit_event WHERE sequence = 1", "The audit record 2 follows record 0: some between are gone"],
  ["DELETE FROM audit_event WHERE sequence = 3", "The audit record 4 follows record 2: some between are gone"],
  ["DELETE FROM audit_event WHERE sequence = 8", "The audit log says that its last record is number 8: it ends with"],
  ["DELETE FROM audit_event", "The audit log says that its last record is number 8: it ends with number 0"],
  ["DELETE FROM audit_head", "The audit log does not say where it ends"],
  ["UPDATE audit_event SET actor_id = 'key_2' WHERE sequence = 2", "The audit record 2 was changed: its hash"],
  ["UPDATE audit_event SET time_ms = 1 WHERE sequence = 5", "The audit record 5 was changed: its hash"],
  ["UPDATE audit_event SET after_json = '{}' WHERE sequence = 3", "The audit record 3 was changed: its hash"],
  [
    `UPDATE audit_event SET sequence = -sequence; UPDATE audit_event SET sequence = CASE sequence WHEN -2 THEN 3
      WHEN -3 THEN 2 ELSE -sequence END`,
    "The audit record 2 was changed: its hash",
  ],
  ["UPDATE audit_event SET transfer_id = 'c:c9' WHERE transfer_id = 'c:c1'", "names the transfer c:c9, which is not"],
  ["UPDATE usage_day SET output_tokens = 1", "The usage of 2026-11-21 (account acme, key key_1, model sim-1)"],
];

describe("on SQLite", () => {
  test.each(TAMPERED)("%s is found", (sql, problem) => {
    expect(problemsAfter(sql).join("\n")).toContain(problem);
  });

  test("a place that is left out is found", () => {
    const problem = "The transfer 3 follows transfer 1: those between are gone";
    expect(problemsAfter("DELETE FROM transfer WHERE credit_id = 'c2'").join("\n")).toContain(problem);
  });
});

/** Nothing refuses what a hand in the database may do. */
const UNGUARDED = `SET LOCAL session_replication_role = replica;
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT conname, conrelid::regclass AS place FROM pg_constraint
    WHERE contype = 'c' AND connamespace = current_schema()::regnamespace
  LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one.place, one.conname); END LOOP;
END $$`;

describe.skipIf(postgresMissing !== undefined)("on PostgreSQL", () => {
  let database: Postgres;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const made = await createDatabase();
    drop = made.drop;
    await fill(await openPostgresStore({ url: made.url, nodeId: "node_1" }));
    database = await Postgres.open(made.url);
  });
  afterAll(async () => {
    await database.close();
    await drop();
  });

  /** What is changed is proven and then undone. */
  async function reportAfter(tampering: string): Promise<VerifyReport> {
    let report: VerifyReport | undefined;
    const undone = database.transact(async (session) => {
      await session.script(UNGUARDED);
      await session.script(tampering);
      report = await verifyWithin(session);
      throw new Error("undone");
    });
    await expect(undone).rejects.toMatchObject({ reason: "ERROR_REASON_INTERNAL" });
    return report ?? expect.fail("no proof was made");
  }

  test("a sound ledger holds, and the proof says what it counted", async () => {
    expect(await reportAfter("SELECT 1")).toEqual(SOUND);
  });

  test.each(TAMPERED)("%s is found", async (sql, problem) => {
    const bytes = sql.replaceAll(/zeroblob\((\d+)\)/g, "decode(repeat('00', $1), 'hex')");
    const { problems } = await reportAfter(bytes.replaceAll(/x'([0-9a-f]+)'/g, "decode('$1', 'hex')"));
    expect(problems.join("\n")).toContain(problem);
  });
});

test("one flipped bit of the file is found, and its transfer named", () => {
  const directory = copyOfLedger();
  const path = join(directory, "tollgate.db");
  const database = new Sqlite(path);
  const hash = database
    .prepare<[], Uint8Array>(`SELECT hash FROM transfer WHERE ${transfer("settle", "settled")}`)
    .pluck()
    .get();
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
