/** A settlement that the database never takes stands in nobody's way, and ends where it is seen. */
import { expect, test, vi } from "vitest";
import { NO_USAGE } from "../../src/api/usage.js";
import { TOTAL_NANOS_MAX } from "../../src/ledger/book.js";
import { OVERAGE_NANOS_MAX } from "../../src/ledger/hold.js";
import type { LostSettlement } from "../../src/ledger/ledger.js";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import { TEST_ACT } from "../support/acts.js";
import { onEachStore } from "../support/stores.js";
import { type Bench, bench, request, settlement, WAIT } from "./bench.js";
import { holdOf, settleOf, usage } from "./operations.js";

type Told = (requestId: string, overageNanos: bigint, unkeptNanos: bigint) => void;

/** For all tries of one that never succeeds, and how often they are made. */
const TRIES = { timeout: 60_000, interval: 10 };
const OFTEN = { settlesRetryMsMax: 20 };

/** Settles one after the other of the others, each at once, until something is so. Returns how many. */
async function settleUntil(state: Bench, isSo: () => boolean | Promise<boolean>): Promise<number> {
  await state.ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: 1_000_000n, act: TEST_ACT });
  const poisoned = await state.ledger.hold(request({ requestId: "poison" }));
  poisoned.checkpoint({ usage: usage(1n), costNanos: 2n, upstream: "u", attempts: 1 });
  expect(await poisoned.settle(settlement(4n))).toBeUndefined();
  let others = 0;
  const settleOne = async (): Promise<boolean> => {
    const hold = await state.ledger.hold(request({ requestId: `r${others}` }));
    others += 1;
    expect(await hold.settle(settlement(1n))).toEqual({ chargedNanos: 1n, overageNanos: 0n });
    return isSo();
  };
  await expect.poll(settleOne, TRIES).toBe(true);
  return others;
}

const isItsEnd = (operation: LedgerOperation): boolean =>
  operation.kind === "settle" && operation.requestId === "poison";

onEachStore((driver) => {
  test("what no try can write is lost once, told, and resolved by its checkpoint", async () => {
    const onSettleLost = vi.fn<(lost: LostSettlement) => void>();
    const counts: number[] = [];
    const state = await bench({ ...OFTEN, onSettleLost, onSettlesWaiting: (count) => counts.push(count) }, driver);
    state.refuses = isItsEnd;
    const others = await settleUntil(state, () => onSettleLost.mock.calls.length > 0);
    const problem = "the database refuses it, and takes others";
    expect(onSettleLost.mock.calls).toEqual([[{ requestId: "poison", costNanos: 4n, problem }]]);
    await expect.poll(() => counts.at(-1), WAIT).toBe(0);
    const spentNanos = BigInt(others) + 2n;
    await expect.poll(() => state.ledger.balance("acme"), WAIT).toMatchObject({ heldNanos: 0n, spentNanos });
  });

  test("what is refused for its figures is charged without them", async () => {
    const onSettleLost = vi.fn<(lost: LostSettlement) => void>();
    const state = await bench({ ...OFTEN, onSettleLost }, driver);
    state.refuses = (operation) => isItsEnd(operation) && operation.kind === "settle" && operation.attempts > 0;
    const isCharged = async (): Promise<boolean> => (await state.store.requests.get("poison"))?.state === "settled";
    const others = await settleUntil(state, isCharged);
    const spentNanos = BigInt(others) + 4n;
    await expect.poll(() => state.ledger.balance("acme"), WAIT).toMatchObject({ heldNanos: 0n, spentNanos });
    expect(await state.store.requests.get("poison")).toMatchObject({ state: "settled", usage: NO_USAGE });
    expect(onSettleLost).not.toHaveBeenCalled();
  });

  test("what is refused for its figures is charged without them though nothing else is settled", async () => {
    const onSettleLost = vi.fn<(lost: LostSettlement) => void>();
    const state = await bench({ ...OFTEN, onSettleLost }, driver);
    state.refuses = (operation) => isItsEnd(operation) && operation.kind === "settle" && operation.attempts > 0;
    const poisoned = await state.ledger.hold(request({ requestId: "poison" }));
    expect(await poisoned.settle(settlement(4n))).toBeUndefined();
    await expect.poll(() => state.ledger.balance("acme"), TRIES).toMatchObject({ heldNanos: 0n, spentNanos: 4n });
    expect(await state.store.requests.get("poison")).toMatchObject({ state: "settled", usage: NO_USAGE });
    expect(onSettleLost).not.toHaveBeenCalled();
  });

  test("a table that nobody may write for long costs no settlement its figures", async () => {
    const state = await bench(OFTEN, driver);
    let plain = 0;
    state.refuses = (operation) => {
      if (operation.kind === "settle" && operation.attempts === 0) plain += 1;
      return operation.kind === "settle";
    };
    const hold = await state.ledger.hold(request({ requestId: "locked" }));
    expect(await hold.settle(settlement(4n))).toBeUndefined();
    // Its cost alone was tried as well, and refused like all else.
    await expect.poll(() => plain, TRIES).toBeGreaterThan(0);
    state.refuses = (operation) => operation.kind === "settle" && operation.attempts === 0;
    await expect.poll(() => state.ledger.balance("acme"), TRIES).toMatchObject({ heldNanos: 0n, spentNanos: 4n });
    expect(await state.store.requests.get("locked")).toMatchObject({ state: "settled", usage: usage(3n) });
  });

  test("a database that takes no settlement at all is waited for, however often it refuses", async () => {
    const onSettleLost = vi.fn<(lost: LostSettlement) => void>();
    let tries = 0;
    const state = await bench({ ...OFTEN, onSettleLost }, driver);
    state.refuses = (operation) => operation.kind === "settle" && ++tries > 0;
    const holds = await Promise.all([1, 2, 3].map((id) => state.ledger.hold(request({ requestId: `r${id}` }))));
    for (const hold of holds) void hold.settle(settlement(4n));
    // More often than a single one may be refused.
    await expect.poll(() => tries, TRIES).toBeGreaterThan(40);
    state.refuses = () => false;
    const spentNanos = 12n;
    await expect.poll(() => state.ledger.balance("acme"), WAIT).toMatchObject({ heldNanos: 0n, spentNanos });
    expect(onSettleLost).not.toHaveBeenCalled();
  });

  test("recovery resolves what it found without the figures that nobody can write", async () => {
    const log = { warn: vi.fn(), error: vi.fn<(fields: object, message: string) => void>() };
    const state = await bench({ log }, driver);
    state.refuses = (operation) => operation.kind === "recover" && operation.isPlain !== true;
    // Of a node that is gone.
    await state.store.ledger.commit([
      holdOf({ requestId: "orphan", nodeId: "gone" }),
      {
        kind: "checkpoint",
        requestId: "orphan",
        usage: usage(2n),
        costNanos: 3n,
        upstream: "u",
        attempts: 1,
        nowMs: 1,
      },
    ]);
    await expect.poll(() => state.ledger.balance("acme"), WAIT).toMatchObject({ heldNanos: 0n, spentNanos: 3n });
    expect(log.error.mock.calls.map(([, message]) => message)).toContain(
      "the ledger cannot write what recovery found: holds are resolved without their figures",
    );
  });

  test("the total of overages fills up without a settlement that fails, and what it cannot take is told", async () => {
    const onOverage = vi.fn<Told>();
    const { ledger, store } = await bench({ onOverage }, driver);
    const hold = await ledger.hold(request());
    // What the account has, and then all but 5 of what all overages may come to.
    const costs = [90n, AMOUNT_NANOS_MAX, AMOUNT_NANOS_MAX, AMOUNT_NANOS_MAX, AMOUNT_NANOS_MAX - 5n];
    for (const [place, costNanos] of costs.entries()) {
      const requestId = `full${place}`;
      await store.ledger.commit([holdOf({ requestId, amountNanos: 0n }), settleOf({ requestId, costNanos })]);
    }
    expect(await hold.settle(settlement(30n))).toEqual({ chargedNanos: 10n, overageNanos: 5n });
    expect(onOverage.mock.calls).toEqual([["r1", 5n, 15n]]);
    expect((await ledger.verify()).problems).toEqual([]);
    expect(TOTAL_NANOS_MAX).toBe(4n * AMOUNT_NANOS_MAX);
  });

  test("no request costs so much above its hold that a few fill the total of overages", async () => {
    const onOverage = vi.fn<Told>();
    const { ledger } = await bench({ onOverage }, driver);
    const hold = await ledger.hold(request());
    await hold.settle(settlement(AMOUNT_NANOS_MAX));
    // The account had 90 beside its hold.
    expect(onOverage.mock.calls).toEqual([["r1", OVERAGE_NANOS_MAX - 90n, 0n]]);
  });
});
