/** Top-up codes: worth their amount once, whoever asks at once, on each database; and nothing that one can guess. */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { gatewayAct } from "../../src/audit/act.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { TopUpCodes, type TopUpOptions } from "../../src/payments/top-up-codes.js";
import type { Store } from "../../src/store/store.js";
import { refusalOf } from "../keys/key-world.js";
import { onEachStore, openStore } from "../support/stores.js";

const START_MS = Date.UTC(2026, 10, 22);
const AMOUNT = 25_000_000_000n;
const ADDRESS = "192.0.2.1";
const act = () => gatewayAct("test", START_MS);

interface World {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: { nowMs: number };
  node(options?: Partial<TopUpOptions>): TopUpCodes;
  balance(accountId: string): Promise<bigint>;
}

async function openWorld(store: Store): Promise<World> {
  const clock = { nowMs: START_MS };
  const nowMs = (): number => clock.nowMs;
  const ledger = new Ledger({ store, nodeId: randomUUID(), nowMs });
  await ledger.start();
  onTestFinished(() => ledger.close());
  for (const id of ["acme", "other"]) await ledger.createAccount({ id, name: id }, act());
  const coordination = createInProcessCoordination({ nowMs, heartbeatMs: 0 });
  const parts = { store: store.people, ledger, coordination, nowMs, randomBytes, onError: () => expect.unreachable() };
  return {
    store,
    ledger,
    clock,
    node: (options = {}) => new TopUpCodes({ ...parts, ...options }),
    balance: async (id) => (await ledger.balance(id)).grantedNanos,
  };
}

const batch = (codes: TopUpCodes, count = 1, ttlSeconds = 0) =>
  codes.create({ count, amountNanos: AMOUNT, note: "spring", ttlSeconds }, act());

const reasonOf = async (call: () => unknown): Promise<string> => (await refusalOf(call)).reasonWord;

onEachStore((driver) => {
  const open = async (): Promise<World> => openWorld(await openStore(driver));

  test("a code is worth its amount once, however it is typed", async () => {
    const world = await open();
    const codes = world.node();
    const {
      codes: [code = "", second = ""],
    } = await batch(codes, 2);
    expect(code).toMatch(/^TG-([A-Z2-7]{4}-){6}[A-Z2-7]{2}$/);
    const redeemed = await codes.redeem(` ${code.toLowerCase().replaceAll("-", " ")}`, "acme", ADDRESS, act());
    expect(redeemed).toEqual({ amountNanos: AMOUNT, availableNanos: AMOUNT, repeated: false });
    expect(await codes.redeem(code, "acme", ADDRESS, act())).toMatchObject({ repeated: true });
    expect(await reasonOf(() => codes.redeem(code, "other", ADDRESS, act()))).toBe("TOP_UP_CODE_INVALID");
    await codes.redeem(second, "other", ADDRESS, act());
    expect([await world.balance("acme"), await world.balance("other")]).toEqual([AMOUNT, AMOUNT]);
    const { proof } = { proof: await world.store.ledger.verify() };
    expect(proof).toBeDefined();
  });

  test("of many who redeem one code at once, on two nodes, one account is credited once", async () => {
    const world = await open();
    const [one, two] = [world.node(), world.node()];
    const {
      codes: [code = ""],
    } = await batch(one);
    const tries = [one, two, one, two].map((node, at) =>
      node.redeem(code, at % 2 === 0 ? "acme" : "other", ADDRESS, act()),
    );
    await Promise.allSettled(tries);
    expect((await world.balance("acme")) + (await world.balance("other"))).toBe(AMOUNT);
  });

  test("a code that was claimed by a node that died is credited by the next look, once", async () => {
    const world = await open();
    let isDying = true;
    const dying = world.node({
      ledger: {
        credit: (request) => (isDying ? Promise.reject(new Error("the node dies here")) : world.ledger.credit(request)),
      },
    });
    const {
      codes: [code = ""],
    } = await batch(dying);
    await expect(dying.redeem(code, "acme", ADDRESS, act())).rejects.toThrow("dies here");
    expect(await world.balance("acme")).toBe(0n);
    const next = world.node();
    await next.settle();
    expect(await world.balance("acme")).toBe(0n);
    world.clock.nowMs += 10_000;
    await Promise.all([next.settle(), world.node().settle()]);
    expect(await world.balance("acme")).toBe(AMOUNT);
    isDying = false;
    expect(await dying.redeem(code, "acme", ADDRESS, act())).toMatchObject({ repeated: true });
    expect(await world.balance("acme")).toBe(AMOUNT);
  });

  test("void and old codes are worth nothing, and those that were redeemed stay so", async () => {
    const world = await open();
    const codes = world.node();
    const {
      batchId,
      codes: [used = "", kept = ""],
    } = await batch(codes, 3);
    await codes.redeem(used, "acme", ADDRESS, act());
    expect(await codes.void(batchId, "", act())).toBe(2);
    expect(await codes.void(batchId, "", act())).toBe(0);
    expect(await reasonOf(() => codes.redeem(kept, "acme", ADDRESS, act()))).toBe("TOP_UP_CODE_INVALID");
    expect(await reasonOf(() => codes.void("batch_none", "", act()))).toBe("RESOURCE_UNKNOWN");
    const {
      codes: [old = ""],
    } = await batch(codes, 1, 60);
    world.clock.nowMs += 60_000;
    expect(await reasonOf(() => codes.redeem(old, "acme", ADDRESS, act()))).toBe("TOP_UP_CODE_INVALID");
    expect(await world.balance("acme")).toBe(AMOUNT);
    const listed = await codes.list(batchId, "", 10);
    expect(listed.map(({ accountId, voidTimeMs }) => [accountId, voidTimeMs !== null]).sort()).toEqual([
      [null, true],
      [null, true],
      ["acme", false],
    ]);
  });

  test("batches are listed from the newest on, page by page, with what became of their codes", async () => {
    const world = await open();
    const codes = world.node();
    const ids: string[] = [];
    for (let made = 1; made <= 5; made++) {
      // Some are made within one millisecond, and still stand in one order.
      world.clock.nowMs += made % 2;
      ids.push((await batch(codes, made)).batchId);
    }
    const first = await batch(codes, 2);
    await codes.redeem(first.codes[0] ?? "", "acme", ADDRESS, act());
    await codes.void(first.batchId, "", act());
    const seen: string[] = [];
    for (let page = await codes.batches(undefined, 2); page.length > 0; page = await codes.batches(page.at(-1), 2))
      for (const { id, codeCount, redeemedCount, voidCount, amountNanos, note } of page) {
        expect([amountNanos, note]).toEqual([AMOUNT, "spring"]);
        const counts = id === first.batchId ? [2, 1, 1] : [ids.indexOf(id) + 1, 0, 0];
        expect([codeCount, redeemedCount, voidCount]).toEqual(counts);
        seen.push(id);
      }
    expect(seen.toSorted()).toEqual([...ids, first.batchId].toSorted());
    // The two that were made first stand last, in whichever order.
    expect(seen.slice(-2).toSorted()).toEqual(ids.slice(0, 2).toSorted());
  });

  test("no code stands in a table or in the audit log as it is", async () => {
    const world = await open();
    const codes = world.node();
    const { batchId, codes: made } = await batch(codes, 5);
    await codes.redeem(made[0] ?? "", "acme", ADDRESS, act());
    const told = JSON.stringify(
      [await codes.list(batchId, "", 10), await world.store.audit.list({}, { size: 100, token: "" })],
      (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value),
    );
    for (const code of made) {
      expect(told).not.toContain(code);
      expect(told).not.toContain(code.replaceAll("-", ""));
    }
    expect(told).toContain(batchId);
  });

  test("guesses are slowed, for each account and for each address", async () => {
    const world = await open();
    const codes = world.node();
    const reasons: string[] = [];
    for (let count = 0; count < 200; count++) {
      world.clock.nowMs += 1_000;
      reasons.push(await reasonOf(() => codes.redeem(`TG-${count}`, "acme", `198.18.0.${count}`, act())));
    }
    expect(reasons.filter((reason) => reason === "TOP_UP_CODE_INVALID").length).toBeLessThan(30);
    expect(reasons).toContain("RATE_LIMITED");
  });
});

test.each([
  { count: 0, amountNanos: AMOUNT, note: "", ttlSeconds: 0 },
  { count: 1_001, amountNanos: AMOUNT, note: "", ttlSeconds: 0 },
  { count: 1, amountNanos: 0n, note: "", ttlSeconds: 0 },
  { count: 1, amountNanos: 10_000_000_000_001n, note: "", ttlSeconds: 0 },
  { count: 1, amountNanos: AMOUNT, note: "x".repeat(201), ttlSeconds: 0 },
  { count: 1, amountNanos: AMOUNT, note: "", ttlSeconds: 157_680_001 },
])("a batch of $count codes of $amountNanos is refused", async (wish) => {
  const codes = new TopUpCodes({
    store: {} as never,
    ledger: {} as never,
    coordination: createInProcessCoordination({ nowMs: () => START_MS, heartbeatMs: 0 }),
    nowMs: () => START_MS,
    randomBytes,
    onError: () => expect.unreachable(),
  });
  expect(await reasonOf(() => codes.create(wish, act()))).toBe("PARAMETER_INVALID");
});
