/** The audit log in each database: one chain, written with the changes, found by its filters, and proved. */
import { expect, test } from "vitest";
import { type Act, type Actor, eventOf, ownActor } from "../../src/audit/act.js";
import type { AuditFilter, AuditRow, Store } from "../../src/store/store.js";
import { creditOf, NOON_MS } from "../ledger/operations.js";
import { onEachStore, openStore } from "../support/stores.js";

const ACTOR: Actor = { ...ownActor("cli", "key_1"), kind: "key", name: "ci", accountId: "acme", address: "192.0.2.1" };
const actOf = (method: string, timeMs = NOON_MS, id = "key_1"): Act => ({ actor: { ...ACTOR, id }, method, timeMs });

async function opened(store: Store): Promise<Store> {
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, actOf("Create"));
  await store.accounts.setSettings("acme", { budgetDayNanos: 7n }, "", actOf("Update"));
  await store.accounts.setFreeze("acme", { timeMs: 1, reason: "x", actor: "y", endsStreams: false }, actOf("Freeze"));
  await store.ledger.commit([creditOf(100n, { act: actOf("Credit", NOON_MS + 1, "key_2") })]);
  return store;
}

async function listed(store: Store, filter: AuditFilter = {}, size = 100): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (let token = ""; ;) {
    const page = await store.audit.list(filter, { size, token });
    rows.push(...page.rows);
    if (page.nextPageToken === "") return rows;
    token = page.nextPageToken;
  }
}

onEachStore((driver) => {
  test("a change is recorded with it: who, what it was and is, and the transfer that moved money", async () => {
    const rows = (await listed(await opened(await openStore(driver)))).toReversed();
    expect(rows.map(({ sequence, method, resource, result }) => [sequence, method, resource, result])).toEqual([
      [1, "Create", "accounts/acme", "done"],
      [2, "Update", "accounts/acme", "done"],
      [3, "Freeze", "accounts/acme", "done"],
      [4, "Credit", "accounts/acme", "done"],
    ]);
    expect(rows[0]).toMatchObject({ actor: ACTOR, before: "", after: '{"name":"Acme"}', accountId: "acme" });
    expect(rows[1]).toMatchObject({ before: "{}", after: '{"budget_day_nanos":"7"}', transferId: "" });
    expect(rows[3]).toMatchObject({ before: "{}", after: '{"available_nanos":"100","amount_nanos":"100"}' });
    expect(rows[3]?.transferId).toBe("c:c1");
  });

  test("what changes nothing is not recorded, or says so", async () => {
    const store = await opened(await openStore(driver));
    expect(await store.accounts.create({ id: "acme", name: "B", createTimeMs: 1 }, actOf("Create"))).toBe(false);
    expect(await store.accounts.setSettings("acme", {}, "stale", actOf("Update"))).toBe("stale");
    expect(await store.accounts.setFreeze("nobody", null, actOf("Freeze"))).toBeUndefined();
    await store.ledger.commit([creditOf(100n, { act: actOf("Credit") })]);
    expect(await listed(store)).toHaveLength(4);
    await store.accounts.setSettings("acme", { budgetDayNanos: 7n }, "", actOf("Update"));
    expect((await listed(store))[0]).toMatchObject({ result: "unchanged", before: "{}", after: "{}" });
  });

  test("each filter finds its records, and pages stay as they were while others are added", async () => {
    const store = await opened(await openStore(driver));
    const methodsOf = async (filter: AuditFilter, size?: number): Promise<string[]> =>
      (await listed(store, filter, size)).map(({ method }) => method);
    expect(await methodsOf({ actorId: "key_2" })).toEqual(["Credit"]);
    expect(await methodsOf({ methods: ["Freeze", "Create"] }, 1)).toEqual(["Freeze", "Create"]);
    expect(await methodsOf({ accountId: "other" })).toEqual([]);
    expect(await methodsOf({ accountId: "acme", resource: "accounts/acme", result: "done" }, 3)).toHaveLength(4);
    expect(await methodsOf({ result: "refused" })).toEqual([]);
    expect(await methodsOf({ fromMs: NOON_MS + 1 })).toEqual(["Credit"]);
    expect(await methodsOf({ toMs: NOON_MS + 1 })).toEqual(["Freeze", "Update", "Create"]);
    const first = await store.audit.list({}, { size: 2, token: "" });
    await store.audit.append(eventOf(actOf("Later"), { resource: "keys/k", accountId: "acme", result: "refused" }));
    const second = await store.audit.list({}, { size: 2, token: first.nextPageToken });
    expect([...first.rows, ...second.rows].map(({ sequence }) => sequence)).toEqual([4, 3, 2, 1]);
  });

  test.each([
    ["DELETE FROM audit_event WHERE sequence = 1", "The audit record 2 follows record 0"],
    ["DELETE FROM audit_event WHERE sequence = 3", "The audit record 4 follows record 2"],
    ["DELETE FROM audit_event WHERE sequence = 4", "says that its last record is number 4: it ends with number 3"],
    ["UPDATE audit_event SET actor_id = 'key_9' WHERE sequence = 2", "The audit record 2 was changed"],
    ["UPDATE audit_event SET after_json = '{}' WHERE sequence = 4", "The audit record 4 was changed"],
    [
      `UPDATE audit_event SET sequence = -sequence;
       UPDATE audit_event SET sequence = CASE sequence WHEN -2 THEN 3 WHEN -3 THEN 2 ELSE -sequence END`,
      "The audit record 2 was changed",
    ],
    ["UPDATE audit_event SET transfer_id = 'c:c9' WHERE sequence = 4", "names the transfer c:c9, which is not there"],
  ])("%s is found by the proof", async (sql, problem) => {
    const place = await driver.place();
    const store = await opened(await place.open());
    expect((await store.ledger.verify()).problems).toEqual([]);
    await store.close();
    await place.tamper(sql);
    expect((await (await place.open()).ledger.verify()).problems.join("\n")).toContain(problem);
  });

  test("changes that come at once make one chain without gaps", async () => {
    const place = await driver.place();
    const stores = [await place.open("node_1")];
    if (driver.name === "PostgreSQL") stores.push(await place.open("node_2"));
    await Promise.all(
      stores.flatMap((store, node) =>
        Array.from({ length: 20 }, async (_, index) => {
          const id = `a${node}_${index}`;
          await store.accounts.create({ id, name: id, createTimeMs: 1 }, actOf("Create"));
          await store.ledger.commit([creditOf(1n, { accountId: id, creditId: id, act: actOf("Credit") })]);
        }),
      ),
    );
    const [store] = stores;
    expect((await store!.ledger.verify()).problems).toEqual([]);
    expect(await listed(store!)).toHaveLength(40 * stores.length);
  });
});
