/** Requests that are admitted against a lease, over a real database. */
import { describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import type { Hold, HoldRequest, Ledger, LedgerOptions } from "../../src/ledger/ledger.js";
import type { MoneyLeaseName } from "../../src/ledger/operation.js";
import { TEST_ACT } from "../support/acts.js";
import { pace } from "../support/pauses.js";
import { type Bench, WAIT, bench, request, settlement } from "./bench.js";
import { NOON_MS } from "./operations.js";

const CREDIT = 10_000n;
let requests = 0;

/** A request of 10, with an id of its own. */
function next(given: Partial<HoldRequest> = {}): HoldRequest {
  requests += 1;
  return request({ requestId: `q${String(requests).padStart(6, "0")}`, ...given });
}

interface Leased extends Bench {
  /** Admits at once, or throws. */
  admitted(given?: Partial<HoldRequest>): Hold;
  /** The leases that are out, which are asked back by this question. */
  asked(): Promise<readonly MoneyLeaseName[]>;
}

/** A started ledger with 10,000 on acme and a lease for key_1. */
async function leased(options: Partial<LedgerOptions> = {}): Promise<Leased> {
  const made = await bench({ beatEveryMs: 60_000, ...options });
  const { ledger, store } = made;
  await ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: CREDIT - 100n, act: TEST_ACT });
  await grant(ledger);
  const admitted = (given: Partial<HoldRequest> = {}): Hold => {
    const hold = ledger.hold(next(given));
    if (hold instanceof Promise) throw new Error("the hold is waited for");
    return hold;
  };
  const asked = async (): Promise<readonly MoneyLeaseName[]> => {
    const [result] = await store.ledger.commit([{ kind: "recall", accountId: "acme", nowMs: NOON_MS }]);
    return result?.kind === "recalled" ? result.leases : [];
  };
  // The very object: a test sets what it has of `away`.
  return Object.assign(made, { admitted, asked });
}

/** Two requests that end, of which the second asks for a lease. */
async function grant(ledger: Ledger, given: Partial<HoldRequest> = {}): Promise<void> {
  for (const _ of [1, 2]) await (await ledger.hold(next(given))).settle(settlement(0n));
  await vi.waitFor(() => expect(ledger.leases.held.count).toBeGreaterThan(0), WAIT);
}

async function reasonOf(holding: Hold | Promise<Hold>): Promise<string> {
  try {
    await holding;
    return "granted";
  } catch (error) {
    return error instanceof GatewayError ? error.reason : String(error);
  }
}

describe("a request that a lease covers", () => {
  test("is admitted at once, and its hold is durable before anybody reads", async () => {
    const { ledger, admitted } = await leased();
    const hold = admitted();
    expect(hold.amountNanos).toBe(10n);
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 10n, availableNanos: CREDIT - 10n });
    expect(await hold.settle(settlement(4n))).toEqual({ chargedNanos: 4n, overageNanos: 0n });
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 4n, availableNanos: CREDIT - 4n });
  });

  test("shows no lease among the entries, and its hold and settlement once each", async () => {
    const { ledger, admitted } = await leased();
    const id = `q${String(requests + 1).padStart(6, "0")}`;
    await admitted().settle(settlement(4n));
    const { rows } = await ledger.entries("acme", { size: 100, token: "" });
    expect(rows.filter(({ requestId }) => requestId === id).map((row) => row.id)).toEqual([`s:${id}`, `h:${id}`]);
    expect(rows.filter(({ id: one }) => /^[lb]:/.test(one))).toEqual([]);
  });

  test("twice under one id is answered as the first, which goes on answering for it", async () => {
    const { ledger, admitted } = await leased();
    const hold = admitted({ requestId: "q_twice" });
    expect((await ledger.hold(request({ requestId: "q_twice" }))).amountNanos).toBe(10n);
    await hold.settle(settlement(4n));
    // Ids of requests never come again. One that did would be charged nothing more.
    const again = await ledger.hold(request({ requestId: "q_twice" }));
    expect(await again.settle(settlement(9n))).toEqual({ chargedNanos: 4n, overageNanos: 0n });
  });

  test("is charged above its hold of what is leased, before the operator pays", async () => {
    const onOverage = vi.fn<(requestId: string, overageNanos: bigint) => void>();
    const { admitted } = await leased({ onOverage });
    const charged = await admitted().settle(settlement(CREDIT + 3n));
    expect(charged).toEqual({ chargedNanos: CREDIT, overageNanos: 3n });
    expect(onOverage.mock.calls.map(([, nanos]) => nanos)).toEqual([3n]);
  });

  test("or that can cost nothing, is admitted at once from its key's second on, and is settled", async () => {
    const { ledger, admitted } = await leased();
    const free = { keyId: "key_free", amountNanos: 0n, leastNanos: 0n };
    expect(ledger.hold(next(free))).toBeInstanceOf(Promise);
    const hold = admitted({ ...free, requestId: "q_free" });
    expect(hold.amountNanos).toBe(0n);
    expect(await ledger.requests.get("q_free")).toMatchObject({ state: "held", keyId: "key_free" });
    expect(await hold.settle(settlement(0n))).toEqual({ chargedNanos: 0n, overageNanos: 0n });
    expect((await ledger.verify()).problems).toEqual([]);
  });

  test("or that can cost nothing, waits where nothing is durable for 50 ms, or the node may be dead", async () => {
    const { ledger, advance } = await leased();
    const free = { keyId: "key_free", amountNanos: 0n, leastNanos: 0n };
    await ledger.hold(next(free));
    advance(14_000);
    const holding = ledger.hold(next(free));
    expect(holding).toBeInstanceOf(Promise);
    await (await holding).settle(settlement(0n));
  });

  test("leases grow with demand and never pass their cap", async () => {
    const { ledger, store } = await leased({ leaseNanosMax: 200n });
    const commit = vi.spyOn(store.ledger, "commit");
    for (let turn = 0; turn < 60; turn += 1) {
      const holds = await Promise.all([next(), next(), next()].map((one) => ledger.hold(one)));
      await Promise.all(holds.map((hold) => hold.settle(settlement(1n))));
      expect(ledger.leases.held.restNanos).toBeLessThanOrEqual(400n);
    }
    const sizes = commit.mock.calls.flatMap(([operations]) =>
      operations.flatMap((operation) => (operation.kind === "lease" ? [operation.amountNanos] : [])),
    );
    expect(sizes.every((size) => size <= 200n)).toBe(true);
    expect(sizes).toContain(200n);
  });
});

describe("goes the exact way", () => {
  test.each<{ name: string; given: Partial<HoldRequest>; before?: (made: Leased) => void }>([
    { name: "what is larger than the lease", given: { amountNanos: 5_000n } },
    { name: "another key", given: { keyId: "key_2" } },
    { name: "other budgets", given: { budgets: [{ period: "day", limitNanos: 9_000n }] } },
    { name: "after midnight", given: {}, before: ({ setClock }) => setClock(86_400_000) },
    { name: "after no beat was acknowledged for 13 s", given: {}, before: ({ advance }) => advance(13_001) },
    { name: "after the machine was suspended", given: {}, before: ({ setClock }) => setClock(1_500) },
  ])("$name", async ({ given, before }) => {
    const made = await leased();
    before?.(made);
    const holding = made.ledger.hold(next(given));
    expect(holding).toBeInstanceOf(Promise);
    expect((await holding).amountNanos).toBe(given.amountNanos ?? 10n);
  });

  test("whoever comes once: its key gets no lease", async () => {
    const { ledger } = await bench();
    await ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: CREDIT, act: TEST_ACT });
    await (await ledger.hold(next())).settle(settlement(1n));
    await ledger.balance("acme");
    expect(ledger.leases.held.count).toBe(0);
  });
});

describe("leased money", () => {
  test.each([1, 2, 3])("never keeps a request from what the account has (%i)", async (turn) => {
    const { ledger } = await leased();
    await ledger.corrections.debit({
      debitId: `d${turn}`,
      accountId: "acme",
      amountNanos: CREDIT - 100n,
      reason: "test",
      actor: "key_op",
      act: TEST_ACT,
    });
    const reasons = await Promise.all(
      Array.from({ length: 40 }, (_, index) => reasonOf(ledger.hold(next({ keyId: `key_${(index % 3) + 1}` })))),
    );
    expect(reasons.filter((reason) => reason === "granted")).toHaveLength(10);
    expect(reasons.filter((reason) => reason === "ERROR_REASON_BALANCE_HELD")).toHaveLength(30);
  });

  test("is debited as any other", async () => {
    const { ledger, asked } = await leased();
    const wanted = { debitId: "d1", accountId: "acme", amountNanos: CREDIT + 5n, reason: "test", actor: "key_op" };
    const debit = { ...wanted, act: TEST_ACT };
    expect(await ledger.corrections.debit(debit)).toMatchObject({ debitedNanos: CREDIT, receivableNanos: 5n });
    expect(await asked()).toEqual([]);
  });

  test("is available to whoever asks, also in the answer to a credit", async () => {
    const { ledger } = await leased();
    const credit = { creditId: "c3", accountId: "acme", amountNanos: 1n, act: TEST_ACT };
    expect(await ledger.credit(credit)).toMatchObject({ availableNanos: CREDIT + 1n });
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, availableNanos: CREDIT + 1n });
  });

  test("is given back once nobody draws on it", async () => {
    const { ledger, advance, asked } = await leased();
    advance(5_000);
    await vi.waitFor(() => expect(ledger.leases.held.count).toBe(0), WAIT);
    await ledger.balance("acme");
    expect(await asked()).toEqual([]);
  });

  test("is given back by a node that stops", async () => {
    const { ledger, asked } = await leased();
    await ledger.close();
    expect(await asked()).toEqual([]);
  });
});

describe("a change takes hold", () => {
  test("of a freeze, with the next request", async () => {
    const { ledger, asked } = await leased();
    await ledger.freeze("acme", { reason: "test", actor: "key_op", endsStreams: false }, TEST_ACT);
    expect(await reasonOf(ledger.hold(next()))).toBe("ERROR_REASON_ACCOUNT_FROZEN");
    expect(await asked()).toEqual([]);
    expect(ledger.leases.isPending("acme")).toBe(false);
  });

  test("is pending while a node that cannot be reached has a lease that was granted before", async () => {
    const { ledger, store } = await leased();
    const freeze = { reason: "test", actor: "key_op", endsStreams: false };
    const who = { leaseId: "far", nodeId: "node_2", accountId: "acme", keyId: "key_1", budgets: [] };
    await store.ledger.commit([
      { kind: "beat", nodeId: "node_2", nowMs: NOON_MS, isLast: false },
      { kind: "lease", ...who, amountNanos: 100n, requestNanos: 10n, nowMs: NOON_MS },
    ]);
    await ledger.freeze("acme", freeze, TEST_ACT);
    expect(ledger.leases.isPending("acme")).toBe(true);
    await store.ledger.commit([{ kind: "return", leaseId: "far", nowMs: NOON_MS }]);
    await ledger.freeze("acme", freeze, TEST_ACT);
    expect(ledger.leases.isPending("acme")).toBe(false);
  });

  test("is pending no longer than until such a lease has lapsed", async () => {
    const { ledger, store, advance } = await leased();
    const who = { leaseId: "far", nodeId: "node_2", accountId: "acme", keyId: "key_1", budgets: [] };
    await store.ledger.commit([
      { kind: "beat", nodeId: "node_2", nowMs: NOON_MS, isLast: false },
      { kind: "lease", ...who, amountNanos: 100n, requestNanos: 10n, nowMs: NOON_MS },
    ]);
    await ledger.freeze("acme", { reason: "test", actor: "key_op", endsStreams: false }, TEST_ACT);
    expect(ledger.leases.isPending("acme")).toBe(true);
    advance(31_000);
    expect(ledger.leases.isPending("acme")).toBe(false);
  });

  test.each([
    { name: "a lower budget", settings: { budgetDayNanos: 5n } },
    { name: "a lower cost of one request", settings: { requestCostMaxNanos: 5n } },
  ])("of $name, with the next request", async ({ settings }) => {
    const { ledger } = await leased();
    await ledger.setSettings("acme", settings, TEST_ACT);
    expect(await reasonOf(ledger.hold(next()))).toBe("ERROR_REASON_BUDGET_EXCEEDED");
  });
});

describe("where the database does not take a hold", () => {
  test("the next requests wait for theirs, and what was admitted is charged once, when it is back", async () => {
    const made = await leased();
    const { ledger } = made;
    made.away = true;
    const hold = made.admitted();
    // Somebody who waits makes it go at once.
    expect(await reasonOf(ledger.hold(next({ keyId: "key_2" })))).toBe("ERROR_REASON_LEDGER_UNAVAILABLE");
    made.advance(51);
    const waiting = ledger.hold(next());
    expect(waiting).toBeInstanceOf(Promise);
    expect(await reasonOf(waiting)).toBe("ERROR_REASON_LEDGER_UNAVAILABLE");
    void hold.settle(settlement(7n));
    made.away = false;
    await vi.waitFor(async () => expect(await ledger.balance("acme")).toMatchObject({ spentNanos: 7n }), WAIT);
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, availableNanos: CREDIT - 7n });
  });

  test("it is sent again, so that its checkpoints count", async () => {
    const made = await leased();
    const { ledger } = made;
    made.away = true;
    const hold = made.admitted();
    // Somebody who waits makes it go at once.
    expect(await reasonOf(ledger.hold(next({ keyId: "key_2" })))).toBe("ERROR_REASON_LEDGER_UNAVAILABLE");
    made.away = false;
    await vi.waitFor(async () => expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 10n }), WAIT);
    await hold.settle(settlement(7n));
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 7n });
  });

  test.each([
    { name: "in the same batch", first: false },
    { name: "in a batch before", first: true },
  ])("a settlement is charged on its terms where its lease was gone $name", async ({ first }) => {
    const onLate = vi.fn<(requestId: string, overageNanos: bigint) => void>();
    const { ledger, store, admitted, asked } = await leased({ onLate });
    for (const { leaseId } of await asked()) await store.ledger.commit([{ kind: "return", leaseId, nowMs: NOON_MS }]);
    const hold = admitted();
    if (first) await ledger.balance("acme");
    // Its hold was of 10, so the account pays no more of a late record; the operator pays the rest.
    expect(await hold.settle(settlement(12n))).toEqual({ chargedNanos: 10n, overageNanos: 2n });
    expect(onLate.mock.calls.map(([, nanos]) => nanos)).toEqual([2n]);
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 10n });
  });

  test("a grant that was not heard is given back", async () => {
    const made = await leased();
    made.away = true;
    // The lease is used up, and the next is asked for.
    for (let left = 0; left < 20; left += 1) void reasonOf(made.ledger.hold(next()));
    await pace(20);
    made.away = false;
    await vi.waitFor(async () => expect(await made.ledger.balance("acme")).toBeDefined(), WAIT);
  });
});

test("a node that others took for dead goes on under another id, and charges what it had admitted", async () => {
  const { ledger, store, admitted } = await leased({ beatEveryMs: 20 });
  const hold = admitted();
  const beat = { kind: "beat", nodeId: "node_2", nowMs: NOON_MS, isLast: false } as const;
  await vi.waitFor(async () => {
    const [seen] = await store.ledger.commit([beat]);
    const silent = seen?.kind === "beaten" ? seen.others.filter(({ nodeId }) => nodeId === "node_1") : [];
    await store.ledger.commit([{ kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent }]);
    expect(ledger.lease.nodeId).toBe("node_1.1");
  }, WAIT);
  expect(ledger.leases.held.count).toBe(0);
  expect(await hold.settle(settlement(4n))).toEqual({ chargedNanos: 4n, overageNanos: 0n });
  await grant(ledger);
  await admitted().settle(settlement(5n));
  expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 9n });
});

test("an amount beyond all leases changes nothing", async () => {
  const { ledger, admitted } = await leased();
  expect(await reasonOf(ledger.hold(next({ amountNanos: AMOUNT_NANOS_MAX })))).toBe("ERROR_REASON_BALANCE_TOO_LOW");
  // What was asked back comes again with demand.
  await vi.waitFor(async () => {
    await (await ledger.hold(next())).settle(settlement(0n));
    expect(admitted().amountNanos).toBe(10n);
  }, WAIT);
});
