/** Batches on PostgreSQL by several writers at once: what one machine decides, three decide together. */
import { describe, expect, test } from "vitest";

import { sql } from "../../src/store/postgres/sql.js";
import { verifyDatabase } from "../../src/store/postgres/verify.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { recover, refused } from "../ledger/cases.js";
import { administer, postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";
import { makeLedger, type NodeWriter, openWriter } from "../support/postgres-ledger.js";
import { TEST_ACT } from "../support/acts.js";

async function writers(count: number, ...accounts: readonly string[]): Promise<{ url: string; all: NodeWriter[] }> {
  const url = await makeStoreDatabase();
  await makeLedger(url, accounts);
  const names = Array.from({ length: count }, (_, index) => `node_${index + 1}`);
  return { url, all: await Promise.all(names.map((name) => openWriter(url, name))) };
}

async function problemsOf({ database }: NodeWriter): Promise<readonly string[]> {
  return (await verifyDatabase(database)).problems;
}

describe.skipIf(postgresMissing)("a batch on PostgreSQL", () => {
  test("holds, notes, settles, frees, refunds and debits as the state machine says", async () => {
    const { all, url } = await writers(1, "acme", "other");
    const one = all[0]?.batches;
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
      {
        kind: "refund",
        refundId: "f1",
        requestId: "r1",
        amountNanos: 7n,
        reason: "x",
        actor: "y",
        nowMs: NOON_MS,
        act: TEST_ACT,
      },
      {
        kind: "debit",
        debitId: "d1",
        accountId: "acme",
        amountNanos: 9n,
        reason: "x",
        actor: "y",
        nowMs: NOON_MS,
        act: TEST_ACT,
      },
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
    expect(await problemsOf(all[0]!)).toEqual([]);
  });

  test("by three nodes at once grants of 1,000 calls exactly those that the balance covers", async () => {
    const { all } = await writers(3, "acme");
    await all[0]!.batches.commit([creditOf(10n)]);
    const asked = Array.from({ length: 1_000 }, (_, index) =>
      holdOf({ requestId: `r${index}`, amountNanos: 1n, nodeId: `node_${(index % 3) + 1}` }),
    );
    const answers = await Promise.all(
      all.flatMap(({ batches }, node) => {
        const mine = asked.filter((_, index) => index % 3 === node);
        return [0, 1, 2, 3].map((part) => batches.commit(mine.filter((_, index) => index % 4 === part)));
      }),
    );
    const kinds = answers.flat().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "held")).toHaveLength(10);
    expect(kinds.filter((kind) => kind === "balance_too_low")).toHaveLength(990);
    expect(await problemsOf(all[0]!)).toEqual([]);
  });

  test("by three nodes over the same accounts in every order ends, and no deadlock reaches a caller", async () => {
    const ids = ["a", "b", "c", "d"];
    const { all, url } = await writers(3, ...ids);
    await all[0]!.batches.commit(ids.map((accountId) => creditOf(10_000n, { accountId, creditId: accountId })));
    await Promise.all(
      all.map(async ({ batches }, node) => {
        for (let round = 0; round < 30; round += 1) {
          const turned = [...ids.slice(node), ...ids.slice(0, node)];
          if (round % 2 === 1) turned.reverse();
          const holds = turned.map((accountId) =>
            holdOf({
              accountId,
              keyId: `key of ${accountId}`,
              requestId: `${node}-${round}-${accountId}`,
              amountNanos: 1n,
            }),
          );
          await batches.commit(holds);
          await batches.commit(holds.map(({ requestId }) => settleOf({ requestId, costNanos: 2n })).toReversed());
        }
      }),
    );
    const [row] = await administer("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()", url);
    expect(row?.["deadlocks"]).toBe("0");
    expect(await problemsOf(all[0]!)).toEqual([]);
    expect(await administer("SELECT sum(debits_posted) AS spent FROM account", url)).toEqual([{ spent: "720" }]);
  });

  test.each([
    ["credit", () => creditOf(5n, { creditId: "same" })],
    ["hold", () => holdOf({ requestId: "same", amountNanos: 1n })],
  ])("of the same %s by three nodes makes it once", async (_name, operation) => {
    const { all, url } = await writers(3, "acme", "other");
    await all[0]!.batches.commit([creditOf(10n)]);
    const answers = await Promise.all(all.map(({ batches }) => batches.commit([operation()])));
    expect(new Set(answers.flat().map(({ kind }) => kind)).size).toBe(1);
    const of = "SELECT count(*) AS n FROM transfer WHERE credit_id = 'same' OR request_id = 'same'";
    expect(await administer(of, url)).toEqual([{ n: "1" }]);
    expect(await problemsOf(all[0]!)).toEqual([]);
  });

  test("of one credit id on two accounts takes the id for one of them alone", async () => {
    const { all } = await writers(2, "acme", "other");
    const answers = await Promise.all(
      all.map(({ batches }, index) =>
        batches.commit([creditOf(5n, { creditId: "same", accountId: index === 0 ? "acme" : "other" })]),
      ),
    );
    expect(
      answers
        .flat()
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(["credited", "refused"]);
    expect(await problemsOf(all[0]!)).toEqual([]);
  });

  test("that needs more places than a block takes more of them, which rise", async () => {
    const { all, url } = await writers(2, "acme", "other");
    const many = (accountId: string) =>
      Array.from({ length: 1_025 }, (_, index) => creditOf(1n, { accountId, creditId: `${accountId}${index}` }));
    const answers = await Promise.all([all[0]!.batches.commit(many("acme")), all[1]!.batches.commit(many("other"))]);
    expect(answers.map(({ length }) => length)).toEqual([1_025, 1_025]);
    const fallen = `SELECT count(*) AS n FROM transfer AS one JOIN transfer AS next ON next.account_id = one.account_id
      AND next.account_sequence = one.account_sequence + 1 WHERE next.sequence <= one.sequence`;
    expect(await administer(fallen, url)).toEqual([{ n: "0" }]);
    expect(await problemsOf(all[0]!)).toEqual([]);
  });

  test("previewed answers as it would, and leaves nothing", async () => {
    const { all, url } = await writers(1, "acme");
    await all[0]!.batches.commit([creditOf(10n)]);
    const asked = [holdOf({ amountNanos: 7n }), holdOf({ requestId: "r2", amountNanos: 7n })];
    expect((await all[0]!.batches.preview(asked)).map(({ kind }) => kind)).toEqual(["held", "balance_too_low"]);
    expect(await administer("SELECT count(*) AS n FROM transfer", url)).toEqual([{ n: "1" }]);
  });

  test("of a writer that another node took for dead is refused, and writes nothing", async () => {
    const { all, url } = await writers(1, "acme");
    await all[0]!.batches.commit([creditOf(10n)]);
    await administer("UPDATE writer SET epoch = epoch + 1", url);
    const late = all[0]!.batches.commit([holdOf()]);
    await expect(late).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    expect(await administer("SELECT count(*) AS n FROM transfer", url)).toEqual([{ n: "1" }]);
  });

  test("stays as it is: no row of a transfer or of a release is changed or deleted", async () => {
    const { all, url } = await writers(1, "acme");
    await all[0]!.batches.commit([creditOf(10n)]);
    const changes = ["UPDATE transfer SET posted_nanos = 5", "UPDATE release SET kind = 'void'"];
    const ends = ["transfer", "release"].flatMap((table) => [`DELETE FROM ${table}`, `TRUNCATE ${table}`]);
    for (const statement of [...changes, ...ends])
      await expect(administer(statement, url), statement).rejects.toThrow("append-only");
  });

  test("of a node that was suspended keeps no other from its account, and writes nothing", async () => {
    const { all } = await writers(2, "acme");
    const [suspended, other] = all;
    let goOn = (): void => undefined;
    const isSuspended = new Promise<void>((resolve) => (goOn = resolve));
    let locked = (): void => undefined;
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const batch = suspended!.database.commit(async (session) => {
      await suspended!.batches.within(session, [creditOf(30n, { creditId: "late" })]);
      locked();
      await isSuspended;
      return session.rows(sql("SELECT 1 AS one"));
    });
    // Refused before it is waited for, it is nobody's fault yet.
    batch.catch(() => undefined);
    await isLocked;
    expect(await other!.batches.commit([creditOf(100n)])).toMatchObject([{ kind: "credited", availableNanos: 100n }]);
    goOn();
    await expect(batch).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    // Its next batch finds another connection.
    const [late] = await suspended!.batches.commit([creditOf(30n, { creditId: "late" })]);
    expect(late).toMatchObject({ kind: "credited", availableNanos: 130n, repeated: false });
    expect(await problemsOf(other!)).toEqual([]);
  });
});
