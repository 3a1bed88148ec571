/** Lists of accounts and keys in each database: order, filters, balances, spending and last uses. */
import { expect, test } from "vitest";
import type { MoneyLeaseOperation } from "../../src/ledger/operation.js";
import type { AccountFilter, KeyRow, Store } from "../../src/store/store.js";
import { creditOf, holdOf, NOON_MS, settleOf } from "../ledger/operations.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { onEachStore, openStore } from "../support/stores.js";
import { bySweep } from "../support/sweep.js";

const BUCKETS = { day: "2026-11-21", month: "2026-11" };
/** More than two pages of them. */
const KEYS_ON_SQLITE = bySweep({ short: 2_500, long: 10_000, all: 10_000 });
const NAMES = ["Alpha", "beta", "100%_sure", "Gamma"];

async function opened(store: Store): Promise<Store> {
  for (const [index, name] of NAMES.entries())
    await store.accounts.create({ id: `a${index}`, name, createTimeMs: NOON_MS + index }, TEST_ACT);
  const credits = [40n, 30n, 20n, 20n];
  await store.ledger.commit([
    ...credits.map((nanos, index) => creditOf(nanos, { accountId: `a${index}`, creditId: `c${index}` })),
    holdOf({ requestId: "r1", accountId: "a1", keyId: "key_1" }),
    settleOf({ requestId: "r1", costNanos: 4n }),
    holdOf({ requestId: "r2", accountId: "a1", keyId: "key_1", amountNanos: 3n }),
  ]);
  await store.accounts.setFreeze("a2", { timeMs: 1, reason: "x", actor: "y", endsStreams: false }, TEST_ACT);
  return store;
}

function keyOf(id: string): KeyRow {
  return {
    id,
    accountId: "a0",
    makerId: null,
    settings: new Uint8Array(),
    digest: Buffer.from(id),
    previousDigest: null,
    previousUntilMs: null,
    hint: "sk-a...b",
    createTimeMs: NOON_MS,
    revokeTimeMs: null,
    revision: 1,
  };
}

async function idsOf(store: Store, filter: AccountFilter, size = 1): Promise<string[]> {
  const ids: string[] = [];
  for (let token = ""; ;) {
    const page = await store.accounts.list({ size, token }, filter);
    ids.push(...page.rows.map(({ id }) => id));
    if (page.nextPageToken === "") return ids;
    token = page.nextPageToken;
  }
}

onEachStore((driver) => {
  test("accounts are listed in each order and by each filter, page by page", async () => {
    const store = await opened(await openStore(driver));
    expect(await idsOf(store, { order: "id" })).toEqual(["a0", "a1", "a2", "a3"]);
    expect(await idsOf(store, { order: "available" })).toEqual(["a2", "a3", "a1", "a0"]);
    expect(await idsOf(store, { order: "spent" })).toEqual(["a1", "a0", "a2", "a3"]);
    expect(await idsOf(store, { order: "newest" })).toEqual(["a3", "a2", "a1", "a0"]);
    expect(await idsOf(store, { order: "id", isFrozen: true })).toEqual(["a2"]);
    expect(await idsOf(store, { order: "available", isFrozen: false }, 2)).toEqual(["a3", "a1", "a0"]);
    expect(await idsOf(store, { order: "id", text: "ALPHA" })).toEqual(["a0"]);
    expect(await idsOf(store, { order: "id", text: "0%_s" })).toEqual(["a2"]);
    expect(await idsOf(store, { order: "id", text: "%a" })).toEqual([]);
  });

  test("figures are the balance's and the counters'", async () => {
    const store = await opened(await openStore(driver));
    const [figures] = await store.figures.ofAccounts(["a1", "nobody"], BUCKETS);
    const balance = await store.ledger.balance("a1");
    expect(balance).toMatchObject({ availableNanos: 23n, heldNanos: 3n, spentNanos: 4n, grantedNanos: 30n });
    expect(figures).toMatchObject({ id: "a1", availableNanos: 23n, heldNanos: 3n, spentNanos: 4n, grantedNanos: 30n });
    expect(figures?.spent).toMatchObject({ dayNanos: 4n, monthNanos: 4n });
    const [later] = await store.figures.ofAccounts(["a1"], { day: "2026-11-22", month: "2026-11" });
    expect(later?.spent).toMatchObject({ dayNanos: 0n, monthNanos: 4n });
    const [key, unused] = await store.figures.ofKeys(["key_1", "key_2"], BUCKETS);
    const spent = { dayNanos: 4n, monthNanos: 4n, totalNanos: 4n, heldNanos: 3n };
    expect(key).toEqual({ id: "key_1", lastUseTimeMs: undefined, spent });
    expect(unused?.spent).toEqual({ dayNanos: 0n, monthNanos: 0n, totalNanos: 0n, heldNanos: 0n });
  });

  test("what nodes lease is nobody's: a key holds what its requests do, with those that it made", async () => {
    const store = await opened(await openStore(driver));
    await store.keys.create(keyOf("key_maker"), TEST_EVENT);
    await store.keys.create({ ...keyOf("key_made"), makerId: "key_maker" }, TEST_EVENT);
    const leaseOf = (leaseId: string, keyId: string): MoneyLeaseOperation => ({
      kind: "lease",
      leaseId,
      nodeId: "node",
      accountId: "a0",
      keyId,
      budgets: [],
      amountNanos: 8n,
      requestNanos: 1n,
      nowMs: NOON_MS,
    });
    const [, ...results] = await store.ledger.commit([
      { kind: "beat", nodeId: "node", nowMs: NOON_MS, isLast: false },
      leaseOf("l1", "key_maker"),
      leaseOf("l2", "key_made"),
      holdOf({ requestId: "r3", accountId: "a0", keyId: "key_made", amountNanos: 3n, leaseId: "l2", nodeId: "node" }),
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(["leased", "leased", "held"]);
    const held = async (): Promise<bigint[]> =>
      (await store.figures.ofKeys(["key_maker", "key_made"], BUCKETS)).map(({ spent }) => spent.heldNanos);
    expect(await held()).toEqual([3n, 3n]);
    await store.ledger.commit([settleOf({ requestId: "r3", costNanos: 2n })]);
    expect(await held()).toEqual([0n, 0n]);
    const [made] = await store.figures.ofKeys(["key_maker"], BUCKETS);
    expect(made?.spent.totalNanos).toBe(2n);
  });

  test("of a key's uses the latest is kept, and none is a change", async () => {
    const store = await opened(await openStore(driver));
    await store.figures.noteUses([
      { keyId: "key_1", timeMs: 7.5 },
      { keyId: "key_2", timeMs: 5 },
    ]);
    await store.figures.noteUses([{ keyId: "key_1", timeMs: 6 }]);
    const rows = await store.figures.ofKeys(["key_1", "key_2", "key_3"], BUCKETS);
    expect(rows.map(({ lastUseTimeMs }) => lastUseTimeMs)).toEqual([7, 5, undefined]);
    expect((await store.ledger.verify()).problems).toEqual([]);
  });

  test("what the operator spends adds up by upstream and period", async () => {
    const store = await opened(await openStore(driver));
    const cost = (subject: string, bucket: string, costNanos: bigint) => ({ subject, bucket, costNanos });
    const add = store.figures.addOperatorCosts.bind(store.figures);
    expect(await add([cost("upstream one", "2026-11", 5n), cost("upstream two", "2026-11-30", 0n)])).toContainEqual(
      cost("upstream one", "2026-11", 5n),
    );
    await Promise.all(Array.from({ length: 5 }, () => add([cost("upstream one", "2026-11", 2n)])));
    await add([cost("upstream one", "2026-12", 1n)]);
    expect(await add([cost("upstream one", "2026-11", 0n)])).toEqual([cost("upstream one", "2026-11", 15n)]);
  });

  test("thousands of keys are listed with their figures, each once", async () => {
    const store = await opened(await openStore(driver));
    // On PostgreSQL each waits for the end of the audit log: a few at once, so that none waits long.
    const [count, atOnce] = driver.name === "SQLite" ? [KEYS_ON_SQLITE, 500] : [500, 16];
    for (let start = 0; start < count; start += atOnce) {
      const ids = Array.from({ length: Math.min(atOnce, count - start) }, (_, index) => `key_${start + index}`);
      await Promise.all(ids.map((id) => store.keys.create(keyOf(id), TEST_EVENT)));
    }
    const seen = new Set<string>();
    for (let token = ""; ;) {
      const { rows, nextPageToken } = await store.keys.list({ accountId: "a0" }, { size: 1_000, token });
      const figures = await store.figures.ofKeys(
        rows.map(({ id }) => id),
        BUCKETS,
      );
      for (const { id } of figures) seen.add(id);
      if (nextPageToken === "") break;
      token = nextPageToken;
    }
    expect(seen.size).toBe(count);
  });
});
