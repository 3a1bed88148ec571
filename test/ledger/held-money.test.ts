/** A hold that is refused knows whether running calls alone hold what it lacks. */
import { describe, expect, test } from "vitest";
import { balanceHeld } from "../../src/ledger/hold-refusal.js";
import { isHeldByOthers, type Shortage } from "../../src/ledger/operation.js";
import type { Budget } from "../../src/ledger/rows.js";
import { run } from "./cases.js";
import { type Limits, NO_LIMITS, holdOf, settleOf, voidOf } from "./operations.js";

describe("what running calls hold", () => {
  const day = (limitNanos: bigint) => ({ period: "day" as const, limitNanos });
  const wanted = (amountNanos: bigint, budgets: readonly Budget[] = []) =>
    holdOf({ requestId: "r2", amountNanos, budgets });
  const heldOf100 = (amountNanos: bigint) => holdOf({ amountNanos });
  const spent = (costNanos: bigint) => [
    holdOf({ requestId: "r0", amountNanos: costNanos }),
    settleOf({ requestId: "r0", costNanos }),
  ];
  const account = (limitNanos: bigint): Limits => ({ ...NO_LIMITS, budgets: [day(limitNanos)] });
  test.each([
    { name: "suffices, once it is back", operations: [heldOf100(60n), wanted(100n)], passes: true },
    { name: "would suffice but for one nano", operations: [heldOf100(60n), wanted(101n)], passes: false },
    { name: "suffices beside what was spent", operations: [...spent(10n), heldOf100(60n), wanted(90n)], passes: true },
    { name: "does not undo what was spent", operations: [...spent(10n), heldOf100(60n), wanted(91n)], passes: false },
    { name: "of a budget suffices", operations: [heldOf100(6n), wanted(10n, [day(10n)])], passes: true },
    { name: "of a budget does not suffice", operations: [heldOf100(6n), wanted(11n, [day(10n)])], passes: false },
    {
      name: "of a budget does not undo what was spent",
      operations: [...spent(4n), heldOf100(6n), wanted(7n, [day(10n)])],
      passes: false,
    },
    {
      name: "of a balance is of no use where a budget is spent",
      operations: [...spent(8n), heldOf100(90n), wanted(10n, [day(10n)])],
      passes: false,
    },
    {
      name: "of an account's budget suffices",
      operations: [heldOf100(6n), wanted(10n)],
      limits: account(10n),
      passes: true,
    },
    {
      name: "of an account's budget does not undo what was spent",
      operations: [...spent(1n), heldOf100(6n), wanted(10n)],
      limits: account(10n),
      passes: false,
    },
    {
      name: "of a key's budget is of no use where the account's is spent",
      operations: [
        holdOf({ requestId: "r0", keyId: "key_2", amountNanos: 4n }),
        settleOf({ requestId: "r0", costNanos: 4n }),
        heldOf100(5n),
        wanted(7n, [day(8n)]),
      ],
      limits: account(10n),
      passes: false,
    },
  ])("$name", ({ operations, limits, passes }) => {
    const refusal = run(operations, limits).results.at(-1);
    expect(refusal?.kind).toMatch(/^(balance_too_low|budget_exceeded)$/);
    expect(isHeldByOthers(refusal as Shortage)).toBe(passes);
    // The proof: with nothing held any more, the same hold is granted or refused.
    const ended = operations.flatMap((operation) =>
      operation.kind === "hold" && operation.requestId === "r1" ? [operation, voidOf()] : [operation],
    );
    expect(run(ended, limits).results.at(-1)?.kind === "held").toBe(passes);
  });
});

test.each<{ name: string; shortage: Shortage; want: object }>([
  {
    name: "the balance, without a budget",
    shortage: { kind: "balance_too_low", availableNanos: 1n, heldNanos: 2n, neededNanos: 3n },
    want: { available_nanos: "1" },
  },
  {
    name: "a budget",
    shortage: {
      kind: "budget_exceeded",
      owner: "key",
      period: "day",
      limitNanos: 9n,
      remainingNanos: 1n,
      heldNanos: 2n,
      neededNanos: 3n,
    },
    want: { available_nanos: "1", budget: "day" },
  },
])("the refusal for what running calls hold names $name", ({ shortage, want }) => {
  const { metadata } = balanceHeld(shortage, "key key_1");
  const more = { owner: "key key_1", held_nanos: "2", needed_nanos: "3", retry_after_ms: "1000" };
  expect(metadata).toStrictEqual({ ...more, ...want });
});
