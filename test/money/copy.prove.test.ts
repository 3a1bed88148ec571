/**
 * A ledger that moves to PostgreSQL is killed on its way, again and again, and goes on where it was: all of it is
 * there, once. A few thousand transfers with all tests, a million with `npm run money:copy`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Act } from "../../src/audit/act.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";
import { NOON_MS, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { tollgate } from "../support/command.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";
import { quickDirectory } from "../support/quick-directory.js";

const TRANSFERS = Number(process.env["TOLLGATE_COPY_TRANSFERS"] ?? 3_000);
const TIMEOUT_MS = Math.max(120_000, 5 * TRANSFERS);
const DEATHS = 3;
const ACCOUNTS = ["acme", "other", "third"];
const BATCH = 200;
const SECRET = "a root secret of this test, long enough";
const COPY = ["store", "copy", "--from", "sqlite", "--to", "postgres"];

/** Credits, and as many requests as make up the rest, each held and settled. */
async function fill(store: Store, act: Act): Promise<void> {
  for (const id of ACCOUNTS) await store.accounts.create({ id, name: id, createTimeMs: NOON_MS }, act);
  await store.ledger.commit(ACCOUNTS.map((id) => creditOf(10n ** 15n, { accountId: id, creditId: `credit-${id}` })));
  const requests = Math.ceil((TRANSFERS - ACCOUNTS.length) / 2);
  for (let first = 0; first < requests; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, requests - first) }, (_, index) => first + index);
    const requestOf = (number: number) => ({ requestId: `r${String(number).padStart(9, "0")}` });
    const accountOf = (number: number) => ACCOUNTS[number % ACCOUNTS.length] ?? "acme";
    await store.ledger.commit(
      numbers.map((number) =>
        holdOf({ ...requestOf(number), accountId: accountOf(number), keyId: `key of ${accountOf(number)}` }),
      ),
    );
    await store.ledger.commit(numbers.map((number) => settleOf({ ...requestOf(number), costNanos: 7n })));
  }
}

test.skipIf(postgresMissing)(
  `${TRANSFERS} transfers that are copied, interrupted and resumed are all there, once, and hold`,
  async () => {
    const parent = mkdtempSync(join(quickDirectory(), "tollgate-copy-"));
    onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
    const directory = join(parent, "data");
    const source = await openSqliteStore({ directory });
    const filledMs = performance.now();
    await fill(source, TEST_ACT);
    const balances = await Promise.all(ACCOUNTS.map((id) => source.ledger.balance(id)));
    const report = await source.ledger.verify();
    await source.close();
    const url = await makeDatabase();
    const env = { TOLLGATE_DATA: directory, TOLLGATE_SECRET: SECRET, TOLLGATE_DATABASE_URL: url };
    const copiedMs = performance.now();
    // Each process dies some batches later than the one before, and what it wrote stays.
    for (let death = 1; death <= DEATHS; death += 1) {
      const step = Math.max(2, Math.floor(TRANSFERS / 500 / (DEATHS + 2)));
      const killed = await tollgate(
        COPY,
        { ...env, TOLLGATE_FAILPOINTS: `during_commit=kill:${step}` },
        undefined,
        TIMEOUT_MS,
      );
      expect(killed.code, killed.stderr).not.toBe(0);
    }
    const whole = await tollgate(COPY, env, undefined, TIMEOUT_MS);
    expect(whole, whole.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${report.transferCount} transfers`),
    });
    const target = await openPostgresStore({ url, nodeId: "node_1" });
    expect(await Promise.all(ACCOUNTS.map((id) => target.ledger.balance(id)))).toEqual(balances);
    const proven = await target.ledger.verify();
    await target.close();
    expect(proven).toMatchObject({ holds: true, problems: [], transferCount: report.transferCount });
    const seconds = (fromMs: number, toMs: number): string => ((toMs - fromMs) / 1000).toFixed(1);
    console.info(
      `${report.transferCount} transfers made in ${seconds(filledMs, copiedMs)} s, copied with ${DEATHS} deaths` +
        ` and proven in ${seconds(copiedMs, performance.now())} s`,
    );
  },
  TIMEOUT_MS,
);
