/** Jobs and sessions as the program uses them, on each store. */
import { expect, test } from "vitest";
import { Ledger } from "../../src/ledger/ledger.js";
import type { Store } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { onEachStore, type StoreDriver } from "../support/stores.js";
import { costOfLine, JOB_LINES, jobLine, jobOf, sliceOf, sliceSettlement } from "./spans.js";

async function started(store: Store, nodeId: string): Promise<Ledger> {
  const ledger = new Ledger({ store, nodeId, nowMs: () => Date.now() });
  await ledger.start();
  return ledger;
}

async function world(driver: StoreDriver, creditNanos: bigint): Promise<{ store: Store; ledger: Ledger }> {
  const store = await (await driver.place()).open();
  const ledger = await started(store, "node_1");
  await ledger.createAccount({ id: "acme", name: "Acme" }, TEST_ACT);
  await ledger.credit({ creditId: "c1", accountId: "acme", amountNanos: creditNanos, act: TEST_ACT });
  return { store, ledger };
}

onEachStore((driver: StoreDriver) => {
  test("a job that one node began is settled and ended by another", async () => {
    const { store, ledger } = await world(driver, 100n);
    await ledger.jobs.reserve(jobOf("j"));
    await ledger.close();
    const other = await started(store, "node_2");
    expect(await other.balance("acme")).toMatchObject({ availableNanos: 40n, heldNanos: 60n });
    for (let line = 1; line <= JOB_LINES; line += 1)
      expect(await other.jobs.settle(jobLine("j", line))).toMatchObject({ chargedNanos: costOfLine(line) });
    expect(await other.jobs.settle(jobLine("j", 1))).toMatchObject({ chargedNanos: costOfLine(1), repeated: true });
    expect(await other.jobs.end("j")).toBe(0n);
    expect(await other.jobs.end("j")).toBe(0n);
    expect(await other.balance("acme")).toMatchObject({ availableNanos: 55n, heldNanos: 0n, spentNanos: 45n });
    await expect(other.jobs.settle(jobLine("j", 9))).rejects.toMatchObject({ reason: "ERROR_REASON_RESOURCE_UNKNOWN" });
    await expect(other.jobs.reserve(jobOf("j"))).rejects.toMatchObject({ reason: "ERROR_REASON_ALREADY_EXISTS" });
    expect((await other.verify()).problems).toEqual([]);
    await other.close();
  });

  test("a job that the account cannot pay whole is refused in words", async () => {
    const { ledger } = await world(driver, 59n);
    await expect(ledger.jobs.reserve(jobOf("j"))).rejects.toMatchObject({
      reason: "ERROR_REASON_BALANCE_TOO_LOW",
      metadata: { needed_nanos: "60", available_nanos: "59" },
    });
    await ledger.close();
  });

  test("a session pays for each slice before it runs, and gives back what it did not need", async () => {
    const { ledger } = await world(driver, 35n);
    const slices = await ledger.session("s", sliceOf());
    await slices.renew();
    await slices.renew();
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 20n });
    await expect(slices.turn(sliceSettlement())).resolves.toMatchObject({ chargedNanos: 7n });
    expect(slices.requestId).toBe("s:2");
    await expect(slices.turn(sliceSettlement())).rejects.toMatchObject({ reason: "ERROR_REASON_INTERNAL" });
    await slices.renew();
    await slices.turn(sliceSettlement());
    // Of 35 it has paid 14, and holds 10 of the 21 that are left; the next slice, and none after it, can be paid.
    await slices.renew();
    await slices.turn(sliceSettlement());
    await expect(slices.renew()).rejects.toMatchObject({ reason: "ERROR_REASON_BALANCE_HELD" });
    await slices.end(sliceSettlement());
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 28n, availableNanos: 7n });
    expect((await ledger.verify()).problems).toEqual([]);
    await ledger.close();
  });

  test("a session whose node dies is charged what its slice had noted, and no more", async () => {
    const { store, ledger } = await world(driver, 100n);
    const slices = await ledger.session("s", sliceOf());
    await slices.renew();
    slices.checkpoint({ ...sliceSettlement(), costNanos: 4n });
    await ledger.settled();
    // What a killed process leaves: its last beat never comes.
    await store.ledger.commit([{ kind: "beat", nodeId: "node_2", nowMs: 1, isLast: false }]);
    await store.ledger.commit([{ kind: "beat", nodeId: "node_1", nowMs: 1, isLast: true }]);
    await store.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: 1, silent: [] }]);
    expect(await store.ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 4n });
  });
});
