/** Holds and credits, case by case. */
import { describe, expect, test } from "vitest";
import type { DebitOperation, LedgerResult } from "../../src/ledger/operation.js";
import type { Period } from "../../src/ledger/rows.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import { type Row, run, check, refused, held } from "./cases.js";
import { type Limits, NO_LIMITS, NOON_MS, creditOf, holdOf, settleOf, voidOf } from "./operations.js";
import { TEST_ACT } from "../support/acts.js";

describe("a hold", () => {
  const day = (limitNanos: bigint) => ({ period: "day" as const, limitNanos });
  const tooLow = (availableNanos: bigint, neededNanos: bigint, heldNanos = 0n): LedgerResult => ({
    kind: "balance_too_low",
    availableNanos,
    heldNanos,
    neededNanos,
  });
  test.each<Row>([
    {
      name: "sets aside what is wanted",
      operations: [holdOf()],
      want: held(10n),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "may take all",
      operations: [holdOf({ amountNanos: 100n })],
      want: held(100n),
      transfers: "h:r1",
      balance: [0n, 100n, 0n],
    },
    {
      name: "is refused one nano above the balance",
      operations: [holdOf({ amountNanos: 101n })],
      want: tooLow(100n, 101n),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "is lowered to the balance where that will do",
      operations: [holdOf({ amountNanos: 101n, leastNanos: 100n })],
      want: held(100n),
      transfers: "h:r1",
      balance: [0n, 100n, 0n],
    },
    {
      name: "of nothing is granted to an account with nothing",
      operations: [holdOf({ amountNanos: 0n, accountId: "other" })],
      want: held(0n),
      transfers: "h:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of an unknown account is refused",
      operations: [holdOf({ accountId: "nobody" })],
      want: refused("unknown_account"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of an operator's account is refused",
      operations: [holdOf({ accountId: "operator:revenue", amountNanos: 0n })],
      want: refused("unknown_account"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "below zero is refused",
      operations: [holdOf({ amountNanos: -1n })],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of more than any amount is refused",
      operations: [holdOf({ amountNanos: AMOUNT_NANOS_MAX + 1n })],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "that needs more than it wants is refused",
      operations: [holdOf({ leastNanos: 11n })],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "repeated answers the same and holds once",
      operations: [holdOf(), holdOf()],
      want: held(10n),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "repeated with another amount is refused",
      operations: [holdOf(), holdOf({ amountNanos: 11n })],
      want: refused("id_taken"),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "repeated with another price is refused",
      operations: [holdOf(), holdOf({ price: new Uint8Array([8, 2]) })],
      want: refused("id_taken"),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "repeated by another account is refused",
      operations: [holdOf(), holdOf({ accountId: "other" })],
      want: refused("id_taken"),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "repeated after its settlement is refused",
      operations: [holdOf(), settleOf(), holdOf()],
      want: refused("id_taken"),
      transfers: "h:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "may use up a budget",
      operations: [holdOf({ budgets: [day(10n)] })],
      want: held(10n),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "is lowered to a budget where that will do",
      operations: [holdOf({ leastNanos: 1n, budgets: [day(7n)] })],
      want: held(7n),
      transfers: "h:r1",
      balance: [93n, 7n, 0n],
    },
  ])("$name", check);

  test.each([
    { name: "counts what is held", first: [holdOf({ amountNanos: 6n })], second: {}, remaining: 4n },
    {
      name: "counts what was spent",
      first: [holdOf({ amountNanos: 6n }), settleOf({ costNanos: 5n })],
      second: {},
      remaining: 5n,
    },
    {
      name: "does not count what was freed",
      first: [holdOf({ amountNanos: 6n }), voidOf()],
      second: {},
      remaining: undefined,
    },
    {
      name: "does not count another key's",
      first: [holdOf({ amountNanos: 6n, keyId: "key_2" })],
      second: {},
      remaining: undefined,
    },
    {
      name: "of a day begins anew at midnight UTC",
      first: [holdOf({ amountNanos: 6n })],
      second: { nowMs: Date.UTC(2026, 10, 22) },
      remaining: undefined,
    },
    {
      name: "of a day counts until midnight UTC",
      first: [holdOf({ amountNanos: 6n })],
      second: { nowMs: Date.UTC(2026, 10, 22) - 1 },
      remaining: 4n,
    },
    {
      name: "of a month counts the next day",
      first: [holdOf({ amountNanos: 6n })],
      second: { nowMs: Date.UTC(2026, 10, 22), budgets: [{ period: "month", limitNanos: 10n }] },
      remaining: 4n,
      period: "month",
    },
    {
      name: "of a month begins anew on the first",
      first: [holdOf({ amountNanos: 6n })],
      second: { nowMs: Date.UTC(2026, 11, 1), budgets: [{ period: "month", limitNanos: 10n }] },
      remaining: undefined,
    },
    {
      name: "in total never begins anew",
      first: [holdOf({ amountNanos: 6n })],
      second: { nowMs: Date.UTC(2036, 11, 1), budgets: [{ period: "total", limitNanos: 10n }] },
      remaining: 4n,
      period: "total",
    },
    {
      name: "that was lowered below what is spent leaves nothing",
      first: [holdOf({ amountNanos: 60n })],
      second: {},
      remaining: 0n,
    },
  ] as const)("a budget $name", ({ first, second, remaining, ...rest }) => {
    const { results } = run([...first, holdOf({ requestId: "r2", budgets: [day(10n)], ...second })]);
    const period = "period" in rest ? rest.period : "day";
    const whose = { kind: "budget_exceeded", owner: "key", period };
    const exceeded = { ...whose, limitNanos: 10n, remainingNanos: remaining, neededNanos: 10n };
    expect(results.at(-1)).toMatchObject(remaining === undefined ? held(10n) : exceeded);
  });
});

describe("an account's budget", () => {
  const limits = (period: Period, limitNanos: bigint): Limits => ({ ...NO_LIMITS, budgets: [{ period, limitNanos }] });
  const second = holdOf({ requestId: "r2", keyId: "key_2" });
  const onNextDay = { nowMs: Date.UTC(2026, 10, 22) };
  test.each([
    { name: "counts what all its keys hold", period: "day", first: [holdOf({ amountNanos: 6n })], left: 4n },
    { name: "counts what they spent", period: "day", first: [holdOf(), settleOf({ costNanos: 6n })], left: 4n },
    { name: "does not count what is freed", period: "day", first: [holdOf(), voidOf()], left: undefined },
    {
      name: "of a day begins anew at midnight UTC",
      period: "day",
      first: [holdOf({ amountNanos: 6n })],
      later: onNextDay,
      left: undefined,
    },
    {
      name: "of a month counts the next day",
      period: "month",
      first: [holdOf({ amountNanos: 6n })],
      later: onNextDay,
      left: 4n,
    },
    {
      name: "of a month begins anew on the first",
      period: "month",
      first: [holdOf({ amountNanos: 6n })],
      later: { nowMs: Date.UTC(2026, 11, 1) },
      left: undefined,
    },
    {
      name: "in total never begins anew",
      period: "total",
      first: [holdOf({ amountNanos: 6n })],
      later: { nowMs: Date.UTC(2036, 11, 1) },
      left: 4n,
    },
  ] as const)("$name", ({ period, first, left, ...rest }) => {
    const later = "later" in rest ? rest.later : {};
    const { results } = run([...first, { ...second, ...later }], limits(period, 10n));
    const amounts = { limitNanos: 10n, remainingNanos: left, neededNanos: 10n };
    const exceeded = { kind: "budget_exceeded", owner: "account", period, ...amounts };
    expect(results.at(-1)).toMatchObject(left === undefined ? held(10n) : exceeded);
  });

  test("is no other account's", () => {
    const other = creditOf(10n, { creditId: "c2", accountId: "other" });
    const { results } = run([holdOf(), other, { ...second, accountId: "other" }], limits("day", 10n));
    expect(results.at(-1)).toEqual(held(10n));
  });

  test("lowers a grant that may be lowered, and the smallest of all budgets decides", () => {
    const budgets = [{ period: "day" as const, limitNanos: 8n }];
    const clamped = holdOf({ leastNanos: 1n, budgets });
    expect(run([clamped], limits("month", 5n)).results.at(-1)).toEqual(held(5n));
    expect(run([clamped], limits("month", 9n)).results.at(-1)).toEqual(held(8n));
    expect(run([clamped], { budgets: [], requestCostMaxNanos: 3n }).results.at(-1)).toEqual(held(3n));
  });

  test("of one request refuses one that may cost more", () => {
    const { results } = run([holdOf()], { budgets: [], requestCostMaxNanos: 9n });
    const amounts = { limitNanos: 9n, remainingNanos: 9n, neededNanos: 10n };
    expect(results.at(-1)).toMatchObject({ kind: "budget_exceeded", owner: "account", period: "request", ...amounts });
  });
});

describe("a credit", () => {
  const credited = (availableNanos: bigint, repeated = false): LedgerResult => ({
    kind: "credited",
    availableNanos,
    repeated,
  });
  test.each<Row>([
    {
      name: "adds money",
      operations: [creditOf(5n, { creditId: "c2" })],
      want: credited(105n),
      transfers: "c:c2",
      balance: [105n, 0n, 0n],
    },
    {
      name: "repeated adds nothing",
      operations: [creditOf(100n)],
      want: credited(100n, true),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "repeated with another amount is refused",
      operations: [creditOf(99n)],
      want: refused("id_taken"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "repeated for another account is refused",
      operations: [creditOf(100n, { accountId: "other" })],
      want: refused("id_taken"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "to an unknown account is refused",
      operations: [creditOf(5n, { accountId: "nobody" })],
      want: refused("unknown_account"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "below zero is refused",
      operations: [creditOf(-1n, { creditId: "c2" })],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of more than any amount is refused",
      operations: [creditOf(AMOUNT_NANOS_MAX + 1n, { creditId: "c2" })],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
  ])("$name", check);

  test("is refused where all credits together would pass four billion USD", () => {
    const { results } = run([2, 3, 4, 5].map((id) => creditOf(AMOUNT_NANOS_MAX, { creditId: `c${id}` })));
    expect(results.at(-1)).toEqual(refused("amount_invalid"));
    expect(results.at(-2)).toMatchObject({ kind: "credited" });
  });
});

describe("a debit", () => {
  const debitOf = (amountNanos: bigint, debitId = "d1"): DebitOperation => ({
    kind: "debit",
    debitId,
    accountId: "acme",
    amountNanos,
    reason: "x",
    actor: "y",
    nowMs: NOON_MS,
    act: TEST_ACT,
  });
  const debited = (debitedNanos: bigint, receivableNanos: bigint, repeated = false): LedgerResult => ({
    kind: "debited",
    debitedNanos,
    receivableNanos,
    availableNanos: 100n - debitedNanos,
    repeated,
  });
  test.each<Row>([
    {
      name: "takes what the account has, and leaves nothing to receive",
      operations: [debitOf(100n)],
      want: debited(100n, 0n),
      transfers: "d:d1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "of more is the operator's to receive for the rest",
      operations: [debitOf(101n)],
      want: debited(100n, 1n),
      transfers: "d:d1 y:d1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "repeated takes nothing",
      operations: [debitOf(101n), debitOf(101n)],
      want: debited(100n, 1n, true),
      transfers: "d:d1 y:d1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "repeated with another amount is refused",
      operations: [debitOf(101n), debitOf(100n)],
      want: refused("id_taken"),
      transfers: "d:d1 y:d1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "of nothing is refused",
      operations: [debitOf(0n)],
      want: refused("amount_invalid"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
  ])("$name", check);
});
