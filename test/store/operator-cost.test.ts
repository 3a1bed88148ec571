/** What requests cost the operator, and the margin, as the database keeps them. */
import { expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { recover } from "../ledger/cases.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { onEachStore, openStore, type StoreDriver } from "../support/stores.js";
import { TEST_ACT } from "../support/acts.js";

async function storeWith(driver: StoreDriver, ...operations: readonly LedgerOperation[]): Promise<Store> {
  const store = await openStore(driver);
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit([creditOf(100n), ...operations]);
  return store;
}

onEachStore((driver) => {
  test.each([
    {
      name: "that was charged says what it costs the operator",
      operations: [holdOf(), settleOf({ operatorCostNanos: 3n })],
      want: { state: "settled", operatorCostNanos: 3n },
    },
    {
      name: "that was charged says nothing of a cost that nobody knows",
      operations: [holdOf(), checkpointOf({ operatorCostNanos: 3n }), settleOf()],
      want: { state: "settled", operatorCostNanos: undefined },
    },
    {
      name: "that runs says what it costs the operator so far",
      operations: [holdOf(), checkpointOf({ operatorCostNanos: 1n })],
      want: { state: "held", operatorCostNanos: 1n },
    },
    {
      name: "that was recovered costs the operator what its checkpoint does",
      operations: [holdOf(), checkpointOf({ operatorCostNanos: 1n }), recover()],
      want: { state: "settled", costNanos: 2n, operatorCostNanos: 1n },
    },
  ])("a request $name", async ({ operations, want }) => {
    const store = await storeWith(driver, ...operations);
    expect(await store.requests.get("r1")).toMatchObject(want);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test.each([
    { name: "what it costs the operator, and what is left", cost: 1n, sums: [1n, 3n] },
    { name: "a loss as one", cost: 9n, sums: [9n, -5n] },
    { name: "no margin where nobody knows the cost", cost: undefined, sums: [0n, 0n] },
  ])("a request that was charged adds to its day $name, free ones with it", async ({ cost, sums }) => {
    const store = await storeWith(
      driver,
      holdOf(),
      settleOf({ operatorCostNanos: cost }),
      holdOf({ requestId: "r2" }),
      voidOf({ requestId: "r2", operatorCostNanos: 2n }),
    );
    const days = { fromDay: "2026-11-21", toDay: "2026-11-21" };
    const { rows, total } = await store.requests.summarize(undefined, days, { size: 9, token: "" });
    const [costs = 0n, margin = 0n] = sums;
    const want = { requestCount: 1, operatorCostNanos: costs + 2n, marginNanos: margin - 2n };
    expect([rows[0], total]).toMatchObject([want, want]);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });
});
