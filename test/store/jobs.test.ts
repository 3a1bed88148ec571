/** What jobs set aside: held until they end, drawn by their lines, and of no node. */
import { expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { recover } from "../ledger/cases.js";
import { creditOf, holdOf, NOON_MS, settleOf } from "../ledger/operations.js";
import { onEachStore, type StoreDriver, type StorePlace } from "../support/stores.js";
import { TEST_ACT } from "../support/acts.js";
import { lineOf, refundOf, reserveOf } from "./ledger-of-months.js";

const DAY_MS = 86_400_000;

/** An account with 400, of which a job has 300. */
async function begun(place: StorePlace): Promise<Store> {
  const store = await place.open();
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  const answers = await store.ledger.commit([creditOf(400n), reserveOf("j", NOON_MS)]);
  expect(answers[1]).toEqual({ kind: "held", amountNanos: 300n });
  return store;
}

async function one(store: Store, operation: LedgerOperation): Promise<unknown> {
  return (await store.ledger.commit([operation]))[0];
}

async function sums(store: Store): Promise<unknown> {
  const balance = await store.ledger.balance("acme");
  return balance && [balance.availableNanos, balance.heldNanos, balance.spentNanos];
}

onEachStore((driver: StoreDriver) => {
  test("a job holds its money until its lines and its end take it, and the statement says so", async () => {
    const store = await begun(await driver.place());
    expect(await sums(store)).toEqual([100n, 300n, 0n]);
    expect(await one(store, lineOf("j", 1, NOON_MS))).toMatchObject({ chargedNanos: 8n, repeated: false });
    // Its bound of twenty left the reserve, and what it did not cost is free again.
    expect(await sums(store)).toEqual([112n, 280n, 8n]);
    await one(store, lineOf("j", 2, NOON_MS));
    expect(await one(store, lineOf("j", 3, NOON_MS))).toMatchObject({ chargedNanos: 25n, overageNanos: 0n });
    expect(await one(store, { kind: "return", leaseId: "j", nowMs: NOON_MS + DAY_MS })).toMatchObject({
      amountNanos: 240n,
    });
    expect(await sums(store)).toEqual([367n, 0n, 33n]);
    const { rows } = await store.ledger.entries("acme", { size: 20, token: "" });
    const told = rows.map(({ id, kind, availableChangeNanos, heldChangeNanos }) => [
      id,
      kind,
      availableChangeNanos,
      heldChangeNanos,
    ]);
    expect(told.toReversed()).toEqual([
      ["c:c1", "credit", 400n, 0n],
      ["l:j", "reserve", -300n, 300n],
      ["h:j:1", "hold", 0n, 0n],
      ["s:j:1", "settle", 12n, -20n],
      ["h:j:2", "hold", 0n, 0n],
      ["v:j:2", "void", 20n, -20n],
      ["h:j:3", "hold", 0n, 0n],
      ["s:j:3", "settle", -5n, -20n],
      ["b:j", "return", 240n, -240n],
    ]);
    const always = { fromMs: undefined, toMs: undefined };
    const statement = await store.ledger.statement("acme", always, { size: 20, token: "" });
    expect(statement?.closing).toMatchObject({ availableNanos: 367n, heldNanos: 0n });
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("no node, no recall and no start ends a job", async () => {
    const place = await driver.place();
    const store = await begun(place);
    await store.ledger.commit([
      { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: true },
      recover({ nodeId: "node_2", silent: [], live: new Set() }),
      { kind: "recall", accountId: "acme", nowMs: NOON_MS },
    ]);
    await store.close();
    const again = await place.open();
    expect(await sums(again)).toEqual([100n, 300n, 0n]);
    // What it holds is no money of others, and what is left beside it is.
    expect(await one(again, holdOf({ requestId: "r1", amountNanos: 101n }))).toMatchObject({ kind: "balance_too_low" });
    expect(await again.ledger.preview([holdOf({ requestId: "r2", amountNanos: 100n })])).toEqual([
      { kind: "held", amountNanos: 100n },
    ]);
    expect(await one(again, lineOf("j", 1, NOON_MS + 5 * DAY_MS))).toMatchObject({ chargedNanos: 8n });
    expect((await again.ledger.verify()).problems).toEqual([]);
  });

  test("each line is charged once, and none after the end", async () => {
    const store = await begun(await driver.place());
    await store.ledger.commit([lineOf("j", 1, NOON_MS), lineOf("j", 1, NOON_MS)]);
    expect(await one(store, lineOf("j", 1, NOON_MS))).toMatchObject({ chargedNanos: 8n, repeated: true });
    await one(store, { kind: "return", leaseId: "j", nowMs: NOON_MS });
    expect(await one(store, lineOf("j", 4, NOON_MS))).toEqual({ kind: "refused", problem: "lease_gone" });
    expect(await one(store, lineOf("j", 1, NOON_MS))).toMatchObject({ repeated: true });
    expect(await one(store, reserveOf("j", NOON_MS))).toEqual({ kind: "refused", problem: "id_taken" });
    expect(await sums(store)).toEqual([392n, 0n, 8n]);
  });

  test("a job is paid for whole or not at all, and once", async () => {
    const store = await begun(await driver.place());
    expect(await one(store, reserveOf("k", NOON_MS, 101n))).toMatchObject({ kind: "balance_too_low" });
    expect(await one(store, reserveOf("j", NOON_MS))).toEqual({ kind: "held", amountNanos: 300n });
    expect(await one(store, { ...reserveOf("j", NOON_MS), keyId: "key_2" })).toMatchObject({ problem: "id_taken" });
    expect(await one(store, reserveOf("j", NOON_MS, 301n))).toMatchObject({ problem: "id_taken" });
    const budgets = [{ period: "day", limitNanos: 340n }] as const;
    expect(await one(store, { ...reserveOf("k", NOON_MS, 41n), budgets })).toMatchObject({ kind: "budget_exceeded" });
    expect(await one(store, { ...reserveOf("k", NOON_MS, 40n), budgets })).toEqual({ kind: "held", amountNanos: 40n });
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("a line counts in the budgets of the day on which its job began, and can be refunded", async () => {
    const store = await begun(await driver.place());
    await one(store, lineOf("j", 1, NOON_MS + DAY_MS));
    const request = await store.requests.get("j:1");
    expect(request).toMatchObject({ createTimeMs: NOON_MS, endTimeMs: NOON_MS + DAY_MS, costNanos: 8n });
    expect(await one(store, refundOf("j:1", NOON_MS + DAY_MS, 8n))).toMatchObject({ kind: "refunded" });
    const budgets = [{ period: "day", limitNanos: 100n }] as const;
    const next = holdOf({
      requestId: "r9",
      amountNanos: 100n,
      leastNanos: 100n,
      keyId: "key_1",
      budgets,
      nowMs: NOON_MS + DAY_MS,
    });
    expect(await one(store, next)).toMatchObject({ kind: "held" });
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("a node's lease is recalled where a job lacks its money", async () => {
    const store = await begun(await driver.place());
    const lease = { leaseId: "l1", nodeId: "node_1", accountId: "acme", keyId: "key_1", budgets: [] };
    await store.ledger.commit([
      { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false },
      { kind: "lease", ...lease, amountNanos: 40n, requestNanos: 1n, nowMs: NOON_MS },
    ]);
    expect(await one(store, reserveOf("k", NOON_MS, 90n))).toMatchObject({
      kind: "recalling",
      leases: [{ leaseId: "l1", nodeId: "node_1" }],
    });
    await one(store, { kind: "return", leaseId: "l1", nowMs: NOON_MS });
    expect(await one(store, reserveOf("k", NOON_MS, 90n))).toEqual({ kind: "held", amountNanos: 90n });
    // No line is a node's.
    const forged = settleOf({ requestId: "l1:1", costNanos: 1n, terms: { ...termsOf("l1") } });
    expect(await one(store, forged)).toMatchObject({ problem: "lease_gone" });
    expect((await store.ledger.verify()).problems).toEqual([]);
  });
});

function termsOf(jobId: string): NonNullable<Extract<LedgerOperation, { kind: "settle" }>["terms"]> {
  const { accountId, keyId, model, price, nodeId, budgets } = holdOf({ keyId: "key_1" });
  const said = { accountId, keyId, model, price, nodeId, budgets, amountNanos: 1n, jobId };
  return { ...said, createTimeMs: NOON_MS, expireTimeMs: NOON_MS };
}
