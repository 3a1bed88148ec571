/** Leases: they survive a start, nobody's view shows them, and the proof finds each that was changed. */
import { expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, NOON_MS, settleOf, voidOf } from "../ledger/operations.js";
import { onEachStore, type StoreDriver, type StorePlace } from "../support/stores.js";
import { TEST_ACT } from "../support/acts.js";

const BEAT: LedgerOperation = { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false };
const WHO = { nodeId: "node_1", accountId: "acme", keyId: "key_1", budgets: [] };
const LEASE: LedgerOperation = {
  kind: "lease",
  leaseId: "l1",
  ...WHO,
  amountNanos: 20n,
  requestNanos: 2n,
  nowMs: NOON_MS,
};

/** A ledger with a lease of twenty, of which an open hold took five. */
async function leased(place: StorePlace): Promise<Store> {
  const store = await place.open();
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit([creditOf(100n), BEAT, LEASE, holdOf({ amountNanos: 5n, leaseId: "l1" })]);
  return store;
}

async function problemsOf(store: Store): Promise<readonly string[]> {
  return (await store.ledger.verify()).problems;
}

onEachStore((driver: StoreDriver) => {
  test("what is left of a lease is available, and no entry tells of it", async () => {
    const store = await leased(await driver.place());
    const balance = { availableNanos: 95n, heldNanos: 5n, spentNanos: 0n, grantedNanos: 100n };
    expect(await store.ledger.balance("acme")).toMatchObject(balance);
    const { rows } = await store.ledger.entries("acme", { size: 10, token: "" });
    expect(rows.map(({ id }) => id)).toEqual(["h:r1", "c:c1"]);
    const always = { fromMs: undefined, toMs: undefined };
    const statement = await store.ledger.statement("acme", always, { size: 10, token: "" });
    expect(statement?.closing).toMatchObject({ availableNanos: 95n, heldNanos: 5n });
    // All that leases have left would be granted.
    const [preview] = await store.ledger.preview([holdOf({ requestId: "r2", amountNanos: 95n })]);
    expect(preview).toEqual({ kind: "held", amountNanos: 95n });
    expect(await problemsOf(store)).toEqual([]);
  });

  test("a lease is granted once: a batch that comes late, when it has ended, is not taken", async () => {
    const store = await leased(await driver.place());
    const ended: LedgerOperation = { kind: "return", leaseId: "l1", nowMs: NOON_MS };
    await store.ledger.commit([voidOf({ requestId: "r1" }), ended]);
    const balance = await store.ledger.balance("acme");
    await expect(store.ledger.commit([LEASE, creditOf(7n, { creditId: "with it" })])).rejects.toThrow();
    expect(await store.ledger.balance("acme")).toEqual(balance);
    expect(await problemsOf(store)).toEqual([]);
  });

  test("a return that is sent behind its grant, before that is answered, ends the lease", async () => {
    const store = await leased(await driver.place());
    const granted = store.ledger.commit([{ ...LEASE, leaseId: "l2" }]);
    const ended = store.ledger.commit([{ kind: "return", leaseId: "l2", nowMs: NOON_MS }]);
    expect(await granted).toMatchObject([{ kind: "leased", amountNanos: 20n }]);
    expect(await ended).toMatchObject([{ kind: "returned", amountNanos: 20n }]);
    expect(await problemsOf(store)).toEqual([]);
  });

  test.each([
    { change: "other budgets", made: (store: Store) => store.accounts.setSettings("acme", {}, "", TEST_ACT) },
    {
      change: "a freeze",
      made: (store: Store) =>
        store.accounts.setFreeze("acme", { timeMs: 1, reason: "x", actor: "y", endsStreams: false }, TEST_ACT),
    },
  ])("$change of an account asks back its leases, also where its node dies at once", async ({ made }) => {
    const place = await driver.place();
    const store = await leased(place);
    const marked = async (id: string): Promise<boolean> => {
      // What is asked back already is not named again.
      const [result] = await store.ledger.commit([holdOf({ requestId: id, amountNanos: 90n })]);
      if (result?.kind === "account_frozen") return true;
      return result?.kind === "recalling" && result.leases.length === 0;
    };
    await made(store);
    expect(await marked("r2")).toBe(true);
    if (store.ledger.recalled !== undefined) expect(await store.ledger.recalled("node_1")).toEqual(["l1"]);
    expect(await problemsOf(store)).toEqual([]);
  });

  test("a lease outlives its process, and ends with the first recovery after it", async () => {
    const place = await driver.place();
    await (await leased(place)).close();
    const store = await place.open("node_2");
    const [short] = await store.ledger.commit([holdOf({ requestId: "r2", nodeId: "node_2", amountNanos: 90n })]);
    expect(short).toMatchObject({ kind: "recalling", leases: [{ leaseId: "l1", nodeId: "node_1" }] });
    expect(await problemsOf(store)).toEqual([]);
    const silent = [{ nodeId: "node_1", beats: 1 }];
    await store.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent }]);
    const [held] = await store.ledger.commit([holdOf({ requestId: "r2", nodeId: "node_2", amountNanos: 90n })]);
    expect(held).toEqual({ kind: "held", amountNanos: 90n });
    // Whatever the dead node still sends finds its lease no more, and it is given none under its id.
    const late = await store.ledger.commit([
      holdOf({ requestId: "r3", amountNanos: 5n, leaseId: "l1" }),
      { ...LEASE, leaseId: "l2", amountNanos: 2n, requestNanos: 1n },
      { ...BEAT, isFirst: false },
    ]);
    expect(late).toMatchObject([{ problem: "lease_gone" }, { kind: "lease_refused" }, { kind: "gone" }]);
    expect(await problemsOf(store)).toEqual([]);
  });

  test("each lease is drawn, returned and ended with its node as the state machine says", async () => {
    const store = await leased(await driver.place());
    const lease = (leaseId: string, keyId: string): LedgerOperation => ({ ...LEASE, leaseId, keyId });
    const results = await store.ledger.commit([
      lease("l2", "key_2"),
      holdOf({ requestId: "r2", keyId: "key_2", amountNanos: 3n, leaseId: "l2" }),
      { kind: "return", leaseId: "l2", nowMs: NOON_MS },
      lease("l3", "key_3"),
      { kind: "recall", accountId: "acme", nowMs: NOON_MS },
    ]);
    expect(results).toMatchObject([
      { kind: "leased", amountNanos: 20n },
      { kind: "held" },
      { kind: "returned", amountNanos: 17n },
      { kind: "leased" },
      { kind: "recalled", leases: [{ leaseId: "l1" }, { leaseId: "l3" }] },
    ]);
    const [settled, freed] = await store.ledger.commit([
      settleOf({ costNanos: 4n }),
      voidOf({ requestId: "r2" }),
      { ...BEAT, isLast: true },
    ]);
    expect([settled, freed]).toMatchObject([{ chargedNanos: 4n }, { chargedNanos: 0n }]);
    expect(await store.ledger.balance("acme")).toMatchObject({ availableNanos: 96n, heldNanos: 0n });
    expect(await problemsOf(store)).toEqual([]);
  });

  test("leases are named by their ids, whether the book was kept since their grants or read anew", async () => {
    const store = await leased(await driver.place());
    await store.ledger.commit([
      { ...LEASE, leaseId: "l9", keyId: "key_2" },
      { ...LEASE, leaseId: "l10", keyId: "key_3" },
    ]);
    const recall: LedgerOperation = { kind: "recall", accountId: "acme", nowMs: NOON_MS };
    const named = [{ kind: "recalled", leases: [{ leaseId: "l1" }, { leaseId: "l10" }, { leaseId: "l9" }] }];
    expect(await store.ledger.commit([recall])).toMatchObject(named);
    // Nothing of an account is kept through a change of it.
    await store.accounts.setFreeze("acme", null, TEST_ACT);
    expect(await store.ledger.commit([recall])).toMatchObject(named);
  });

  test("where other processes write, a node is told which of its leases are asked back", async () => {
    const place = await driver.place();
    const store = await leased(place);
    expect(store.ledger.recalled === undefined).toBe(driver.name === "SQLite");
    if (store.ledger.recalled === undefined) return;
    const other = await place.open("node_2");
    expect(await store.ledger.recalled("node_1")).toEqual([]);
    await other.ledger.commit([holdOf({ requestId: "r2", nodeId: "node_2", amountNanos: 90n })]);
    expect(await store.ledger.recalled("node_1")).toEqual(["l1"]);
    expect(await store.ledger.recalled("node_2")).toEqual([]);
    await store.ledger.commit([{ kind: "return", leaseId: "l1", nowMs: NOON_MS }]);
    expect(await store.ledger.recalled("node_1")).toEqual([]);
  });

  test("an account in shortage stays so from one batch to the next, until twice as much is free", async () => {
    const place = await driver.place();
    const store = await leased(place);
    const asked = async (leaseId: string, requestNanos: bigint): Promise<string | undefined> => {
      const [result] = await store.ledger.commit([{ ...LEASE, leaseId, requestNanos }]);
      return result?.kind;
    };
    // Of 80 that are free: too little for eight requests of 11, and afterwards for sixteen of 6.
    expect(await asked("l2", 11n)).toBe("lease_refused");
    expect(await asked("l3", 6n)).toBe("lease_refused");
    expect(await asked("l4", 5n)).toBe("leased");
    expect(await asked("l5", 6n)).toBe("leased");
  });

  test("a node that is gone loses more leases at once than a block has places", async () => {
    const store = await leased(await driver.place());
    const leases = Array.from({ length: 1_100 }, (_, index): LedgerOperation => {
      return { ...LEASE, leaseId: `lease ${index}`, amountNanos: 1n, requestNanos: 1n };
    });
    await store.ledger.commit([creditOf(100_000n, { creditId: "c2" })]);
    for (let from = 0; from < leases.length; from += 200) await store.ledger.commit(leases.slice(from, from + 200));
    const silent = [{ nodeId: "node_1", beats: 1 }];
    await store.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent }]);
    const recalled = await store.ledger.commit([{ kind: "recall", accountId: "acme", nowMs: NOON_MS }]);
    expect(recalled).toEqual([{ kind: "recalled", leases: [] }]);
    expect(await store.ledger.balance("acme")).toMatchObject({ availableNanos: 100_100n, heldNanos: 0n });
    expect(await problemsOf(store)).toEqual([]);
  });

  test("a settlement carries its hold where that was lost, and both are proved", async () => {
    const store = await leased(await driver.place());
    const owner = { accountId: "acme", keyId: "key_1", model: "sim-1", nodeId: "node_1" };
    const times = { createTimeMs: NOON_MS, expireTimeMs: NOON_MS + 1 };
    const terms = { ...owner, ...times, price: new Uint8Array([8, 1]), amountNanos: 10n, budgets: [] };
    const [settled] = await store.ledger.commit([settleOf({ requestId: "r9", costNanos: 4n, terms })]);
    expect(settled).toMatchObject({ kind: "settled", chargedNanos: 4n, repeated: false });
    expect(await store.requests.get("r9")).toMatchObject({ state: "settled", chargedNanos: 4n });
    expect(await problemsOf(store)).toEqual([]);
  });

  test.each([
    {
      what: "the rest of a lease",
      sql: "UPDATE lease SET rest_nanos = rest_nanos + 1",
      finds: /The lease l1 does not equal/,
    },
    {
      what: "whose a lease is",
      sql: "UPDATE lease SET node_id = 'node_9'",
      finds: /The lease l1 is not what its transfer/,
    },
    { what: "a lease that is gone", sql: "DELETE FROM lease", finds: /The lease l1 does not equal its transfers/ },
    {
      what: "what a hold was drawn from",
      sql: "UPDATE transfer SET lease_id = NULL",
      finds: /The transfer \d+ \(h:r1\) was changed/,
    },
    {
      what: "whom a lease was granted to",
      sql: "UPDATE transfer SET node_id = 'node_9' WHERE kind = 'lease'",
      finds: /The transfer \d+ \(l:l1\) was changed/,
    },
  ])("the proof finds: $what", async ({ sql, finds }) => {
    const place = await driver.place();
    await (await leased(place)).close();
    await place.tamper(sql);
    expect((await problemsOf(await place.open())).join("\n")).toMatch(finds);
  });
});
