/** Batches on PostgreSQL by several writers at once: what one machine decides, three decide together. */
import { describe, expect, onTestFinished, test } from "vitest";

import { Batches } from "../../src/store/postgres/batches.js";
import { Postgres } from "../../src/store/postgres/connection.js";
import { LEDGER_TABLES } from "../../src/store/postgres/ledger-schema.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { recover, refused } from "../ledger/cases.js";
import { administer, makeDatabase, postgresMissing } from "../support/postgres.js";

const KEYS = `CREATE TABLE key (id text COLLATE "C" PRIMARY KEY, maker_id text)`;

async function writers(count: number, ...accounts: readonly string[]): Promise<{ url: string; all: Batches[] }> {
  const url = await makeDatabase();
  await administer(LEDGER_TABLES + KEYS, url);
  for (const id of accounts)
    await administer(
      `INSERT INTO account (id, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos,
       request_cost_max_nanos, requests_per_minute, tokens_per_minute, concurrency, model_limits, digest)
       VALUES ('${id}', '${id}', 0, 0, 0, 0, 0, 0, 0, 0, '', '')`,
      url,
    );
  const all: Batches[] = [];
  for (let index = 0; index < count; index += 1) {
    const database = await Postgres.open(url);
    onTestFinished(() => database.close());
    all.push(new Batches(database, `node_${index + 1}`));
  }
  return { url, all };
}

describe.skipIf(postgresMissing)("a batch on PostgreSQL", () => {
  test("holds, notes, settles, frees, refunds and debits as the state machine says", async () => {
    const { all, url } = await writers(1, "acme", "other");
    const [one] = all;
    const results = await one!.commit([
      creditOf(100n),
      holdOf(),
      holdOf({ requestId: "r2" }),
      holdOf({ requestId: "r3", accountId: "other" }),
      checkpointOf({ requestId: "r2", operatorCostNanos: 3n }),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(["credited", "held", "held", "balance_too_low", "noted"]);
    const more = await one!.commit([
      settleOf({ costNanos: 130n, operatorCostNanos: 5n }),
      voidOf({ requestId: "r2" }),
      holdOf(),
      settleOf(),
      settleOf({ requestId: "none" }),
      { kind: "refund", refundId: "f1", requestId: "r1", amountNanos: 7n, reason: "x", actor: "y", nowMs: NOON_MS },
      { kind: "debit", debitId: "d1", accountId: "acme", amountNanos: 9n, reason: "x", actor: "y", nowMs: NOON_MS },
      { kind: "beat", nodeId: "node_1", isLast: false, nowMs: NOON_MS },
    ]);
    expect(more).toMatchObject([
      { kind: "settled", chargedNanos: 90n, overageNanos: 40n },
      { kind: "settled", chargedNanos: 0n },
      refused("id_taken"),
      { kind: "settled", chargedNanos: 90n, repeated: true },
      refused("unknown_request"),
      { kind: "refunded", amountNanos: 7n, availableNanos: 17n },
      { kind: "debited", debitedNanos: 9n, receivableNanos: 0n, availableNanos: 8n },
      { kind: "beaten", others: [] },
    ]);
    expect(await one!.commit([creditOf(100n), holdOf({ requestId: "r5" }), recover({ nodeId: "node_2" })])).toEqual([
      { kind: "credited", availableNanos: 8n, repeated: true },
      { kind: "balance_too_low", availableNanos: 8n, heldNanos: 0n, neededNanos: 10n },
      { kind: "recovered", settled: 0, voided: 0 },
    ]);
    expect(
      await administer("SELECT kind, sum(nanos) AS nanos FROM operator_total GROUP BY kind ORDER BY 1", url),
    ).toEqual([
      { kind: "granted", nanos: "107" },
      { kind: "overage", nanos: "40" },
    ]);
    expect(await administer("SELECT count(*) FROM open_hold", url)).toEqual([{ count: "0" }]);
  });
});
