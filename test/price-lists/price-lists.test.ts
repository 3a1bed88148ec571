/** Published prices on two nodes of one database: what comes by itself, what operators decide, and what is refused. */
import { expect, test } from "vitest";
import type { PriceListSettings } from "../../src/config/settings.js";
import { knownModels } from "../../src/pricing/known-models.js";
import { PriceLists } from "../../src/price-lists/price-lists.js";
import { PriceReader } from "../../src/price-lists/price-reader.js";
import type { Store } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { type Changed, SNAPSHOT_KEY, snapshotOf, startPublisher } from "../support/price-snapshots.js";
import { onEachStore, openStore } from "../support/stores.js";

const APPLY = { refresh: "apply" as const, url: "", keys: [SNAPSHOT_KEY] };
const PROPOSE = { ...APPLY, refresh: "propose" as const };
const MINI = "openai/gpt-4o-mini";

function mini(input_mtok: number, confirmed = true): Changed {
  return { id: "gpt-4o-mini", prices: { input_mtok }, others: confirmed ? { input_mtok } : {} };
}

onEachStore((driver) => {
  const nodeOn = (store: Store): PriceLists => {
    const node = new PriceLists({ store: store.people, nowMs: Date.now });
    node.use(true);
    return node;
  };
  const take = async (node: PriceLists, text: string, settings: PriceListSettings = APPLY): Promise<void> => {
    await node.take(text, settings, 0);
    await node.apply(settings);
  };
  const priceAt = async (node: PriceLists): Promise<readonly unknown[]> => {
    await node.refresh();
    const known = await knownModels("openai", ["gpt-4o-mini"], Date.now(), node.list);
    const { price, source } = known.get("gpt-4o-mini") ?? {};
    return [price?.inputPicos, source?.list];
  };
  const pendingAt = async (node: PriceLists) => (await node.proposed(APPLY))?.changes ?? [];

  test("the program's own list as a snapshot changes nothing", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, []));
    expect(await pendingAt(node)).toEqual([]);
    expect(node.stamp).toBe("0");
  });

  test("a confirmed change is in force on both nodes, by itself only where the settings say so", async () => {
    const store = await openStore(driver);
    const [one, other] = [nodeOn(store), nodeOn(store)];
    await take(one, await snapshotOf(1, [mini(0.2)]), PROPOSE);
    expect(await priceAt(other)).toEqual([150_000n, "genai-prices 0.1.8"]);
    expect((await pendingAt(other)).map(({ key, reasons }) => [key, reasons])).toEqual([[MINI, []]]);
    await one.apply(APPLY);
    expect(await priceAt(other)).toEqual([200_000n, "price snapshot 1"]);
    other.use(false);
    expect(await priceAt(other)).toEqual([150_000n, "genai-prices 0.1.8"]);
  });

  test("of two nodes that decide at once, both decisions hold", async () => {
    const store = await openStore(driver);
    const [one, other] = [nodeOn(store), nodeOn(store)];
    const large = { id: "gpt-4o", prices: { input_mtok: 9, output_mtok: 90 } };
    await take(one, await snapshotOf(1, [mini(0.9, false), large]));
    const [first, second] = await pendingAt(one);
    await Promise.all([
      one.accept([first?.id ?? ""], APPLY, TEST_ACT),
      other.accept([second?.id ?? ""], APPLY, TEST_ACT),
    ]);
    await one.refresh();
    expect([one.modelCount, await pendingAt(one)]).toEqual([2, []]);
  });

  test("an operator accepts what was shown, and nothing newer", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.9, false)]));
    const [shown] = await pendingAt(node);
    await take(node, await snapshotOf(2, [mini(9, false)]));
    const stale = node.accept([shown?.id ?? ""], APPLY, TEST_ACT);
    await expect(stale).rejects.toMatchObject({ reason: "ERROR_REASON_RESOURCE_UNKNOWN" });
    const [newer] = await pendingAt(node);
    await node.accept([newer?.id ?? ""], APPLY, TEST_ACT);
    expect(await priceAt(node)).toEqual([9_000_000n, "price snapshot 2"]);
  });

  test("what was rejected comes back only as another proposal, and never by itself", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.9, false)]));
    await node.reject(
      (await pendingAt(node)).map(({ id }) => id),
      APPLY,
      TEST_ACT,
    );
    expect(await pendingAt(node)).toEqual([]);
    await take(node, await snapshotOf(2, [mini(0.9, false)]));
    expect(await pendingAt(node)).toEqual([]);
    await take(node, await snapshotOf(3, [mini(0.2)]));
    expect((await pendingAt(node)).map(({ reasons }) => reasons)).toEqual([
      ["an operator decided on this model before"],
    ]);
    expect(await priceAt(node)).toEqual([150_000n, "genai-prices 0.1.8"]);
  });

  test("after a rollback the earlier prices stay until an operator accepts others", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.2)]));
    await take(node, await snapshotOf(2, [mini(0.25)]));
    expect(await priceAt(node)).toEqual([250_000n, "price snapshot 2"]);
    await node.rollBack(1, TEST_ACT);
    await take(node, await snapshotOf(3, [mini(0.26)]));
    expect(await priceAt(node)).toEqual([200_000n, "price snapshot 1"]);
    await node.rollBack(0, TEST_ACT);
    expect(await priceAt(node)).toEqual([150_000n, "genai-prices 0.1.8"]);
    await expect(node.rollBack(7, TEST_ACT)).rejects.toMatchObject({ reason: "ERROR_REASON_RESOURCE_UNKNOWN" });
  });

  test("a snapshot that is older than what was read, or than the program, is refused", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(5, [mini(0.2)]));
    await expect(take(node, await snapshotOf(4, [mini(0.21)]))).rejects.toThrow(/has the serial 4/);
    await expect(take(node, await snapshotOf(5, [mini(0.22)]))).rejects.toThrow(/is not above that of the last one/);
    const old = { made: "2026-09-01T00:00:00Z" };
    await expect(take(node, await snapshotOf(6, [mini(0.21)], old))).rejects.toThrow(/was made before genai-prices/);
    expect(await priceAt(node)).toEqual([200_000n, "price snapshot 5"]);
  });

  test("a snapshot whose serial jumps so far that none could follow is refused", async () => {
    const node = nodeOn(await openStore(driver));
    await expect(take(node, await snapshotOf(Number.MAX_SAFE_INTEGER, []))).rejects.toThrow(/after 0 none above/);
    await take(node, await snapshotOf(20_261_201, [mini(0.2)]));
    await expect(take(node, await snapshotOf(20_261_201_000_000, [mini(0.21)]))).rejects.toThrow(/after 20261201 none/);
    await take(node, await snapshotOf(20_261_202, [mini(0.21)]));
    expect(await priceAt(node)).toEqual([210_000n, "price snapshot 20261202"]);
  });

  test("steps within the bounds stop at double of what was confirmed, until an operator accepts", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.25)]));
    await take(node, await snapshotOf(2, [mini(0.3)]));
    expect(await priceAt(node)).toEqual([300_000n, "price snapshot 2"]);
    await take(node, await snapshotOf(3, [mini(0.35)]));
    expect(await priceAt(node)).toEqual([300_000n, "price snapshot 2"]);
    const [change] = await pendingAt(node);
    expect(change?.reasons).toEqual(["input_mtok would be more than double or below half of what was confirmed last"]);
    await node.accept([change?.id ?? ""], APPLY, TEST_ACT);
    await take(node, await snapshotOf(4, [mini(0.6)]));
    expect(await priceAt(node)).toEqual([600_000n, "price snapshot 4"]);
  });

  test("an expired snapshot changes nothing by itself, and what is in force stays", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.2)]));
    await take(node, await snapshotOf(2, [mini(0.25)], { expires: new Date(Date.now() - 1_000).toISOString() }));
    expect(await priceAt(node)).toEqual([200_000n, "price snapshot 1"]);
    expect((await pendingAt(node)).map(({ reasons }) => reasons)).toEqual([["the snapshot has expired"]]);
  });

  test("once its key is trusted no more, a snapshot proposes nothing", async () => {
    const node = nodeOn(await openStore(driver));
    await take(node, await snapshotOf(1, [mini(0.9, false)]));
    expect(await node.proposed({ ...APPLY, keys: [Buffer.alloc(32).toString("base64")] })).toBeUndefined();
  });

  test("one node of two reads a due snapshot, and one that cannot be read changes nothing", async () => {
    const store = await openStore(driver);
    const publisher = await startPublisher();
    const problems: string[] = [];
    const settings = () => ({ ...APPLY, url: publisher.url });
    const readerOn = (lists: PriceLists): PriceReader =>
      new PriceReader({
        lists,
        store: store.people,
        settings,
        nowMs: Date.now,
        random: () => 0,
        onProblem: (problem) => problems.push(problem),
      });
    const lists = nodeOn(store);
    const reader = readerOn(lists);
    publisher.published.text = await snapshotOf(1, [mini(0.2)]);
    expect(await store.people.claimPriceSnapshot(1_000, 2_000)).toBe(true);
    expect(await store.people.claimPriceSnapshot(1_500, 2_500)).toBe(false);
    await reader.read();
    expect(await store.people.claimPriceSnapshot(Date.now(), 0)).toBe(false);
    publisher.published.status = 503;
    await reader.read();
    publisher.published.status = 200;
    publisher.published.text = "<html>";
    await reader.read();
    expect(problems).toEqual(["the server answered with status 503", "is no JSON"]);
    expect(await store.people.priceSnapshot()).toMatchObject({ serial: 1, problem: "is no JSON" });
    expect(await priceAt(lists)).toEqual([200_000n, "price snapshot 1"]);
    await Promise.all([reader.close(), publisher.close()]);
  });
});
