/** Leases in SQLite: they survive a start, nobody's view shows them, and the proof finds each that was changed. */
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import type { Store } from "../../src/store/store.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { creditOf, holdOf, NOON_MS, settleOf } from "../ledger/operations.js";
import { temporaryDirectory } from "./directory.js";

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

async function open(directory: string): Promise<Store> {
  return openSqliteStore({ directory });
}

/** A ledger with a lease of twenty, of which an open hold took five. */
async function leased(directory = temporaryDirectory()): Promise<Store> {
  const store = await open(directory);
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS });
  await store.ledger.commit([creditOf(100n), BEAT, LEASE, holdOf({ amountNanos: 5n, leaseId: "l1" })]);
  return store;
}

test("what is left of a lease is available, and no entry tells of it", async () => {
  const store = await leased();
  const balance = { availableNanos: 95n, heldNanos: 5n, spentNanos: 0n, grantedNanos: 100n };
  expect(await store.ledger.balance("acme")).toMatchObject(balance);
  const { rows } = await store.ledger.entries("acme", { size: 10, token: "" });
  expect(rows.map(({ id }) => id)).toEqual(["h:r1", "c:c1"]);
  const statement = await store.ledger.statement(
    "acme",
    { fromMs: undefined, toMs: undefined },
    { size: 10, token: "" },
  );
  expect(statement?.closing).toMatchObject({ availableNanos: 95n, heldNanos: 5n });
  // All that leases have left would be granted.
  const [preview] = await store.ledger.preview([holdOf({ requestId: "r2", amountNanos: 95n })]);
  expect(preview).toEqual({ kind: "held", amountNanos: 95n });
  expect((await store.ledger.verify()).problems).toEqual([]);
  await store.close();
});

test("a lease outlives its process, and ends with the first recovery after it", async () => {
  const directory = temporaryDirectory();
  await (await leased(directory)).close();
  const store = await open(directory);
  const [short] = await store.ledger.commit([holdOf({ requestId: "r2", nodeId: "node_2", amountNanos: 90n })]);
  expect(short).toMatchObject({ kind: "recalling", leases: [{ leaseId: "l1", nodeId: "node_1" }] });
  expect((await store.ledger.verify()).problems).toEqual([]);
  await store.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent: [] }]);
  const [held] = await store.ledger.commit([holdOf({ requestId: "r2", nodeId: "node_2", amountNanos: 90n })]);
  expect(held).toEqual({ kind: "held", amountNanos: 90n });
  expect((await store.ledger.verify()).problems).toEqual([]);
  await store.close();
});

test("a settlement carries its hold where that was lost, and both are proved", async () => {
  const store = await leased();
  const owner = { accountId: "acme", keyId: "key_1", model: "sim-1", nodeId: "node_1", price: new Uint8Array([8, 1]) };
  const terms = { ...owner, amountNanos: 10n, createTimeMs: NOON_MS, expireTimeMs: NOON_MS + 1, budgets: [] };
  const [settled] = await store.ledger.commit([settleOf({ requestId: "r9", costNanos: 4n, terms })]);
  expect(settled).toMatchObject({ kind: "settled", chargedNanos: 4n, repeated: false });
  expect(await store.requests.get("r9")).toMatchObject({ state: "settled", chargedNanos: 4n });
  expect((await store.ledger.verify()).problems).toEqual([]);
  await store.close();
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
])("the proof finds: $what", async ({ sql, finds }) => {
  const directory = temporaryDirectory();
  await (await leased(directory)).close();
  const database = new Sqlite(`${directory}/tollgate.db`);
  database.exec(sql);
  database.close();
  const store = await open(directory);
  expect((await store.ledger.verify()).problems.join("\n")).toMatch(finds);
  await store.close();
});
