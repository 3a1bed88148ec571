/** The ledger as the gateway uses it, over a real database. */
import { describe, expect, test, vi } from "vitest";
import { UsageSource } from "../../src/api/index.js";
import type { HoldRequest, LostSettlement } from "../../src/ledger/ledger.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { OPERATOR_COST_NANOS_MAX } from "../../src/ledger/hold.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import { bench, request, settlement } from "./bench.js";
import { holdOf, settleOf, usage } from "./operations.js";
import { TEST_ACT } from "../support/acts.js";

test("a settlement whose figures have no room in the sums of its day is made without them, and said", async () => {
  const error = vi.fn<(fields: object, message: string) => void>();
  const { ledger, store } = await bench({ log: { warn: () => undefined, error } });
  // To the last unit that 64 bits hold.
  const costs = [...Array.from({ length: 9 }, () => AMOUNT_NANOS_MAX), 223_372_036_854_775_807n];
  for (const [index, operatorCostNanos] of costs.entries()) {
    const requestId = `r0${index}`;
    const settled = settleOf({ requestId, costNanos: 0n, operatorCostNanos });
    await store.ledger.commit([holdOf({ requestId, amountNanos: 0n }), settled]);
  }
  const hold = await ledger.hold(request());
  const charged = await hold.settle({ ...settlement(4n), operatorCostNanos: 1n });
  expect(charged).toEqual({ chargedNanos: 4n, overageNanos: 0n });
  expect(await ledger.balance("acme")).toMatchObject({ spentNanos: 4n, heldNanos: 0n });
  const said = "the ledger cannot write a settlement: it is settled without the operator's cost";
  expect(error.mock.calls.map(([, message]) => message)).toEqual([said]);
});

test("no request costs its operator so much that a day of them has no room", async () => {
  const { ledger, store } = await bench();
  const hold = await ledger.hold(request());
  await hold.settle({ ...settlement(4n), operatorCostNanos: AMOUNT_NANOS_MAX });
  expect(await store.requests.get("r1")).toMatchObject({ operatorCostNanos: OPERATOR_COST_NANOS_MAX });
});

describe("a hold", () => {
  test("is charged once and gives the rest back", async () => {
    const { ledger, store } = await bench();
    const hold = await ledger.hold(request());
    expect(await ledger.balance("acme")).toMatchObject({ availableNanos: 90n, heldNanos: 10n });
    const first = hold.settle(settlement(4n));
    expect(await Promise.all([first, hold.settle(settlement(9n))])).toEqual([
      { chargedNanos: 4n, overageNanos: 0n },
      { chargedNanos: 4n, overageNanos: 0n },
    ]);
    expect(await ledger.balance("acme")).toEqual({
      availableNanos: 96n,
      heldNanos: 0n,
      spentNanos: 4n,
      grantedNanos: 100n,
      refundedNanos: 0n,
      debitedNanos: 0n,
      receivableNanos: 0n,
    });
    expect(await store.requests.get("r1")).toMatchObject({ state: "settled", price: new Uint8Array([8, 1]) });
  });

  test.each([
    {
      given: { amountNanos: 101n },
      reason: "ERROR_REASON_BALANCE_TOO_LOW",
      metadata: { account: "acme", available_nanos: "100", needed_nanos: "101" },
    },
    {
      given: { budgets: [{ period: "month" as const, limitNanos: 9n }] },
      reason: "ERROR_REASON_BUDGET_EXCEEDED",
      metadata: {
        budget: "month",
        owner: "key key_1",
        reset_time: "2026-12-01T00:00:00.000Z",
        limit_nanos: "9",
        remaining_nanos: "9",
        needed_nanos: "10",
      },
    },
    {
      given: { accountId: "nobody" },
      reason: "ERROR_REASON_RESOURCE_UNKNOWN",
      metadata: { kind: "account", id: "nobody" },
    },
    {
      given: { requestId: "taken" },
      reason: "ERROR_REASON_ALREADY_EXISTS",
      metadata: { kind: "request", id: "taken" },
    },
    { given: { leastNanos: 11n }, reason: "ERROR_REASON_INTERNAL", metadata: {} },
  ])("is refused with $reason", async ({ given, reason, metadata }) => {
    const { ledger } = await bench();
    await ledger.hold(request({ requestId: "taken", amountNanos: 0n }));
    await expect(ledger.hold(request(given))).rejects.toMatchObject({ reason, metadata });
  });

  test("is granted to exactly as many of 1,000 as the balance covers", async () => {
    const { ledger } = await bench();
    const asked = Array.from({ length: 1000 }, (_, index) => ledger.hold(request({ requestId: `r${index}` })));
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
  });

  test("is granted to exactly as many of 1,000 as the account's budget covers, on several keys", async () => {
    const { ledger } = await bench();
    await ledger.credit({ creditId: "c2", accountId: "acme", amountNanos: 100_000n, act: TEST_ACT });
    const budgets = { budgetDayNanos: 100n, budgetMonthNanos: 0n, budgetTotalNanos: 0n, requestCostMaxNanos: 0n };
    expect(await ledger.setSettings("acme", budgets, TEST_ACT)).toMatchObject({ id: "acme", budgets });
    const ask = (index: number): HoldRequest => request({ requestId: `r${index}`, keyId: `key_${index % 7}` });
    const answers = await Promise.allSettled(Array.from({ length: 1000 }, (_, index) => ledger.hold(ask(index))));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    const metadata = {
      budget: "day",
      owner: "account acme",
      available_nanos: "0",
      held_nanos: "100",
      needed_nanos: "10",
      retry_after_ms: "1000",
    };
    for (const error of refused) expect(error).toMatchObject({ reason: "ERROR_REASON_BALANCE_HELD", metadata });
    // A budget that is raised holds from the next hold on.
    await ledger.setSettings("acme", { budgetDayNanos: 110n }, TEST_ACT);
    await ledger.hold(request({ requestId: "next" }));
    await expect(ledger.hold(request({ requestId: "last" }))).rejects.toMatchObject({
      metadata: { available_nanos: "0", held_nanos: "110" },
    });
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 110n });
  });

  test("is refused while the database is away, and not granted behind the request's back", async () => {
    const state = await bench();
    state.away = true;
    await expect(state.ledger.hold(request())).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
    state.away = false;
    expect(await state.ledger.balance("acme")).toMatchObject({ heldNanos: 0n });
  });

  test("is refused while its account is frozen, and no longer", async () => {
    const { ledger } = await bench();
    const freeze = { reason: "a stolen key", actor: "key_op", endsStreams: false };
    await ledger.freeze("acme", freeze, TEST_ACT);
    await expect(ledger.hold(request())).rejects.toMatchObject({ reason: "ERROR_REASON_ACCOUNT_FROZEN" });
    expect(await ledger.balance("acme")).toMatchObject({ availableNanos: 100n, heldNanos: 0n });
    await ledger.unfreeze("acme", TEST_ACT);
    (await ledger.hold(request())).close();
  });

  test("is refused once the ledger closes", async () => {
    const { ledger } = await bench();
    await ledger.close();
    await expect(ledger.hold(request())).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  });
});

describe("a settlement", () => {
  test("above the hold takes what the account has, and tells the operator of the rest", async () => {
    const onOverage = vi.fn<(requestId: string, overageNanos: bigint) => void>();
    const { ledger } = await bench({ onOverage });
    const hold = await ledger.hold(request());
    expect(await hold.settle(settlement(13n))).toEqual({ chargedNanos: 13n, overageNanos: 0n });
    expect(onOverage).not.toHaveBeenCalled();
    const second = await ledger.hold(request({ requestId: "r2" }));
    expect(await second.settle(settlement(90n))).toEqual({ chargedNanos: 87n, overageNanos: 3n });
    expect(onOverage.mock.calls).toEqual([["r2", 3n, 0n]]);
    expect(await ledger.balance("acme")).toMatchObject({ availableNanos: 0n, heldNanos: 0n, spentNanos: 100n });
  });

  test("is made by closing where none was: at the last checkpoint, else of nothing", async () => {
    const { ledger, store } = await bench();
    const noted = await ledger.hold(request());
    noted.checkpoint({ usage: usage(3n), costNanos: 4n, upstream: "u", attempts: 1 });
    noted.close();
    (await ledger.hold(request({ requestId: "r2" }))).close();
    const settled = await ledger.hold(request({ requestId: "r3" }));
    void settled.settle(settlement(5n));
    settled.close();
    expect(await ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 9n });
    const ends = await Promise.all(["r1", "r2", "r3"].map((id) => store.requests.get(id)));
    expect(ends.map((row) => row?.state)).toEqual(["settled", "voided", "settled"]);
    expect((await ledger.verify()).problems).toEqual([]);
  });

  test("that is lost is told once, with what it would have charged", async () => {
    const onSettleLost = vi.fn<(lost: LostSettlement) => void>();
    const state = await bench({ onSettleLost, settlesWaitingMax: 1 });
    const holds = await Promise.all([1, 2].map((id) => state.ledger.hold(request({ requestId: `r${id}` }))));
    state.away = true;
    await Promise.all(holds.map((hold) => hold.settle(settlement(4n))));
    const problem = "too many wait for the database";
    expect(onSettleLost.mock.calls).toEqual([[{ requestId: "r2", costNanos: 4n, problem }]]);
    state.away = false;
    await state.ledger.close();
  });

  test.each([
    { name: "a cost above any amount", costNanos: AMOUNT_NANOS_MAX * 5n, tokens: 1n, charged: 100n },
    { name: "a cost below zero", costNanos: -5n, tokens: 1n, charged: 0n },
    { name: "more tokens than there are", costNanos: 4n, tokens: 2n ** 64n - 1n, charged: 4n },
  ])("takes $name as far as it can be", async ({ costNanos, tokens, charged }) => {
    const { ledger } = await bench();
    const hold = await ledger.hold(request());
    const outcome = await hold.settle({ ...settlement(costNanos), usage: usage(tokens) });
    expect(outcome?.chargedNanos).toBe(charged);
  });

  test("waits for a database that is away, and is charged once when it is back", async () => {
    const counts: number[] = [];
    const state = await bench({ onSettlesWaiting: (count) => counts.push(count) });
    const holds = await Promise.all([1, 2, 3].map((id) => state.ledger.hold(request({ requestId: `r${id}` }))));
    state.away = true;
    const outcomes = await Promise.all(holds.map((hold) => hold.settle(settlement(4n))));
    expect(outcomes).toEqual([undefined, undefined, undefined]);
    expect(Math.max(...counts)).toBe(3);
    expect(await state.ledger.balance("acme")).toMatchObject({ heldNanos: 30n, spentNanos: 0n });
    state.away = false;
    await state.ledger.close();
    expect(await state.ledger.balance("acme")).toMatchObject({ heldNanos: 0n, spentNanos: 12n });
    expect(counts.at(-1)).toBe(0);
  });
});

describe("accounts and credits", () => {
  const credit = { creditId: "c2", accountId: "acme", amountNanos: 5n, act: TEST_ACT };

  test("a credit counts once", async () => {
    const { ledger } = await bench();
    expect(await ledger.credit(credit)).toEqual({ availableNanos: 105n, repeated: false });
    expect(await ledger.credit(credit)).toEqual({ availableNanos: 105n, repeated: true });
  });

  test.each([
    { given: { creditId: "c1" }, reason: "ERROR_REASON_ALREADY_EXISTS", metadata: { kind: "credit", id: "c1" } },
    { given: { accountId: "nobody" }, reason: "ERROR_REASON_RESOURCE_UNKNOWN", metadata: { kind: "account" } },
    { given: { amountNanos: 0n }, reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "amount_nanos" } },
    { given: { amountNanos: -1n }, reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "amount_nanos" } },
    {
      given: { amountNanos: AMOUNT_NANOS_MAX + 1n },
      reason: "ERROR_REASON_PARAMETER_INVALID",
      metadata: { param: "amount_nanos" },
    },
    { given: { creditId: "" }, reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "credit_id" } },
    {
      given: { creditId: "x".repeat(129) },
      reason: "ERROR_REASON_PARAMETER_INVALID",
      metadata: { param: "credit_id" },
    },
    { given: { creditId: "\ud800" }, reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "credit_id" } },
  ])("a credit of $given is refused", async ({ given, reason, metadata }) => {
    const { ledger } = await bench();
    await expect(ledger.credit({ ...credit, ...given })).rejects.toMatchObject({ reason, metadata });
  });

  test.each([
    { id: "acme", reason: "ERROR_REASON_ALREADY_EXISTS" },
    { id: "", reason: "ERROR_REASON_PARAMETER_INVALID" },
    { id: "Acme", reason: "ERROR_REASON_PARAMETER_INVALID" },
    { id: "operator:revenue", reason: "ERROR_REASON_PARAMETER_INVALID" },
    { id: "a".repeat(65), reason: "ERROR_REASON_PARAMETER_INVALID" },
  ])("the account '$id' is refused with $reason", async ({ id, reason }) => {
    const { ledger } = await bench();
    await expect(ledger.createAccount({ id, name: "" }, TEST_ACT)).rejects.toMatchObject({ reason });
  });

  test.each([
    { budgets: { budgetDayNanos: -1n }, param: "settings.budget_day_nanos" },
    { budgets: { requestCostMaxNanos: AMOUNT_NANOS_MAX + 1n }, param: "settings.request_cost_max_nanos" },
  ])("a budget out of bounds is refused: $param", async ({ budgets, param }) => {
    const { ledger } = await bench();
    const refusal = { reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param } };
    await expect(ledger.setSettings("acme", budgets, TEST_ACT)).rejects.toMatchObject(refusal);
  });

  test("what is unknown is refused", async () => {
    const { ledger } = await bench();
    const refusal = { reason: "ERROR_REASON_RESOURCE_UNKNOWN", metadata: { kind: "account", id: "nobody" } };
    await expect(ledger.account("nobody")).rejects.toMatchObject(refusal);
    await expect(ledger.setSettings("nobody", {}, TEST_ACT)).rejects.toMatchObject(refusal);
    await expect(ledger.balance("nobody")).rejects.toMatchObject(refusal);
    await expect(ledger.entries("nobody", { size: 1, token: "" })).rejects.toMatchObject(refusal);
  });

  test("an account's entries say how its available balance changed", async () => {
    const { ledger } = await bench();
    await (await ledger.hold(request())).settle(settlement(93n));
    await (await ledger.hold(request({ requestId: "r3", amountNanos: 5n }))).settle(settlement(9n));
    const nothing = { ...settlement(0n), usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE };
    await (await ledger.hold(request({ requestId: "r2", amountNanos: 0n }))).settle(nothing);
    const { rows } = await ledger.entries("acme", { size: 100, token: "" });
    expect(rows.map((row) => [row.id, row.amountNanos, row.availableChangeNanos])).toEqual([
      ["v:r2", 0n, 0n],
      ["h:r2", 0n, 0n],
      ["o:r3", 2n, 0n],
      ["s:r3", 7n, -2n],
      ["h:r3", 5n, -5n],
      ["s:r1", 93n, -83n],
      ["h:r1", 10n, -10n],
      ["c:c1", 100n, 100n],
    ]);
    const changed = rows.reduce((sum, row) => sum + row.availableChangeNanos, 0n);
    expect(changed).toBe((await ledger.balance("acme")).availableNanos);
  });
});
