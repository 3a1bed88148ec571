/** Credit lines on the databases: a period is granted once, its unused rest expires, and the proof holds. */
import { expect, test } from "vitest";
import { CreditPeriod } from "../../src/api/index.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { onEachStore, type StoreDriver } from "../support/stores.js";

const NOVEMBER_MS = Date.UTC(2026, 10, 30, 23, 59);
const DECEMBER_MS = Date.UTC(2026, 11, 1);
const MONTHLY = { amountNanos: 100n, period: CreditPeriod.CREDIT_PERIOD_MONTH };

function renewOf(nowMs: number): LedgerOperation {
  return { kind: "renew", accountId: "acme", nowMs };
}

async function setLine(store: Store, amountNanos: bigint | undefined): Promise<void> {
  const creditLine = amountNanos === undefined ? undefined : { ...MONTHLY, amountNanos };
  await store.accounts.setSettings("acme", { creditLine }, "", TEST_ACT);
}

async function opened(store: Store): Promise<Store> {
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOVEMBER_MS }, TEST_ACT);
  await setLine(store, 100n);
  return store;
}

async function availableOf(store: Store): Promise<bigint | undefined> {
  return (await store.ledger.balance("acme"))?.availableNanos;
}

/** Spends an amount at a time. */
function spent(requestId: string, costNanos: bigint, nowMs: number): LedgerOperation[] {
  return [holdOf({ requestId, amountNanos: costNanos, nowMs }), settleOf({ requestId, costNanos, nowMs })];
}

onEachStore((driver: StoreDriver) => {
  test("the first hold of a period renews the line: unused money expires, and paid money stays", async () => {
    const store = await opened(await (await driver.place()).open());
    await store.ledger.commit([creditOf(7n), ...spent("r1", 60n, NOVEMBER_MS)]);
    expect(await availableOf(store)).toBe(47n);
    // More than what is left, and no more than the new period has.
    const [held] = await store.ledger.commit([holdOf({ requestId: "r2", amountNanos: 107n, nowMs: DECEMBER_MS })]);
    expect(held).toEqual({ kind: "held", amountNanos: 107n });
    const { rows } = await store.ledger.entries("acme", { size: 10, token: "" });
    expect(rows.map(({ id, amountNanos, reason }) => [id, amountNanos, reason])).toEqual([
      ["h:r2", 107n, ""],
      ["c:line:acme:2026-12-01", 60n, "credit line of 0.0000001 USD, month from 2026-12-01"],
      ["s:r1", 60n, ""],
      ["h:r1", 60n, ""],
      ["c:line:acme:2026-11-01", 100n, "credit line of 0.0000001 USD, month from 2026-11-01"],
      ["c:c1", 7n, ""],
    ]);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("what is spent beyond the line is paid money, and the next period starts with its rest", async () => {
    const store = await opened(await (await driver.place()).open());
    await store.ledger.commit([creditOf(50n), ...spent("r1", 130n, NOVEMBER_MS), renewOf(DECEMBER_MS)]);
    expect(await availableOf(store)).toBe(120n);
    await store.ledger.commit([renewOf(DECEMBER_MS + 1), renewOf(NOVEMBER_MS)]);
    expect(await availableOf(store)).toBe(120n);
  });

  test("a change of the line counts at once, however often, and its end takes back what is unused", async () => {
    const store = await opened(await (await driver.place()).open());
    await store.ledger.commit([creditOf(5n), ...spent("r1", 40n, NOVEMBER_MS)]);
    const after: (bigint | undefined)[] = [];
    for (const amountNanos of [150n, 90n, 10n, undefined, 100n, undefined]) {
      await setLine(store, amountNanos);
      await store.ledger.commit([renewOf(NOVEMBER_MS)]);
      after.push(await availableOf(store));
    }
    expect(after).toEqual([115n, 55n, 5n, 5n, 65n, 5n]);
    await store.ledger.commit([renewOf(DECEMBER_MS)]);
    expect(await availableOf(store)).toBe(5n);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test.each([10n, undefined])(
    "what is held of a line that becomes %s is taken back once it is free",
    async (amount) => {
      const store = await opened(await (await driver.place()).open());
      await store.ledger.commit([...spent("r0", 60n, NOVEMBER_MS), holdOf({ amountNanos: 40n, nowMs: NOVEMBER_MS })]);
      await setLine(store, amount);
      await store.ledger.commit([renewOf(NOVEMBER_MS), settleOf({ costNanos: 15n, nowMs: NOVEMBER_MS }), creditOf(7n)]);
      expect(await availableOf(store)).toBe(32n);
      await store.ledger.commit([renewOf(NOVEMBER_MS)]);
      expect(await availableOf(store)).toBe(7n);
      // Paid money is never taken for it.
      await store.ledger.commit([creditOf(50n, { creditId: "c2" }), renewOf(NOVEMBER_MS), renewOf(DECEMBER_MS)]);
      expect(await availableOf(store)).toBe(57n + (amount ?? 0n));
      expect((await store.ledger.verify()).problems).toEqual([]);
    },
  );

  test("what a running request holds of a lowered line is taken back with the next renewal", async () => {
    const store = await opened(await (await driver.place()).open());
    await store.ledger.commit([holdOf({ amountNanos: 80n, nowMs: NOVEMBER_MS })]);
    await setLine(store, 30n);
    await store.ledger.commit([renewOf(NOVEMBER_MS), settleOf({ costNanos: 10n, nowMs: NOVEMBER_MS })]);
    expect(await availableOf(store)).toBe(70n);
    await store.ledger.commit([renewOf(DECEMBER_MS)]);
    expect(await availableOf(store)).toBe(30n);
  });

  test("a preview counts the line that the hold would get, and grants nothing", async () => {
    const store = await opened(await (await driver.place()).open());
    const [preview] = await store.ledger.preview([holdOf({ amountNanos: 100n, nowMs: NOVEMBER_MS })]);
    expect(preview).toEqual({ kind: "held", amountNanos: 100n });
    expect(await availableOf(store)).toBe(0n);
  });

  test.runIf(driver.id === "postgres")("of many nodes that renew at once, one grants", async () => {
    const place = await driver.place();
    const nodes = await Promise.all(["node_1", "node_2", "node_3"].map((id) => place.open(id)));
    const [first] = nodes;
    if (first === undefined) throw new Error("no node");
    await opened(first);
    await Promise.all(nodes.flatMap((node) => [node.ledger.commit([renewOf(DECEMBER_MS)]), holding(node)]));
    expect((await first.ledger.balance("acme"))?.grantedNanos).toBe(100n);
    expect((await first.ledger.verify()).problems).toEqual([]);
  });
});

let made = 0;

/** One node's hold of a third of the line. */
function holding(node: Store): Promise<unknown> {
  made += 1;
  return node.ledger.commit([holdOf({ requestId: `r${made}`, amountNanos: 33n, nowMs: DECEMBER_MS })]);
}
