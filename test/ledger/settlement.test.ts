/** Settlements, case by case. */
import { describe, expect, test } from "vitest";
import { TOKENS_MAX } from "../../src/ledger/usage.js";
import { type Row, run, check, refused, settled, recover, letGo } from "./cases.js";
import { checkpointOf, holdOf, settleOf, usage, voidOf } from "./operations.js";

describe("a settlement", () => {
  test.each<Row>([
    {
      name: "charges the cost and frees the rest",
      operations: [holdOf(), settleOf()],
      want: settled(4n),
      transfers: "h:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "of the whole hold leaves nothing to free",
      operations: [holdOf(), settleOf({ costNanos: 10n })],
      want: settled(10n),
      transfers: "h:r1 s:r1",
      balance: [90n, 0n, 10n],
    },
    {
      name: "above the hold charges what else is available",
      operations: [holdOf(), settleOf({ costNanos: 13n })],
      want: settled(13n),
      transfers: "h:r1 s:r1",
      balance: [87n, 0n, 13n],
    },
    {
      name: "above the hold and all that is available charges that, and the operator the rest",
      operations: [holdOf(), settleOf({ costNanos: 103n })],
      want: settled(100n, 3n),
      transfers: "h:r1 s:r1 o:r1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "above the hold leaves alone what other requests hold",
      operations: [holdOf(), holdOf({ requestId: "r2", amountNanos: 85n }), settleOf({ costNanos: 20n })],
      want: settled(15n, 5n),
      transfers: "h:r1 h:r2 s:r1 o:r1",
      balance: [0n, 85n, 15n],
    },
    {
      name: "above the hold counts in a budget that it passes, and the next hold is refused",
      operations: [
        holdOf({ budgets: [{ period: "day", limitNanos: 12n }] }),
        settleOf({ costNanos: 13n }),
        holdOf({ requestId: "r2", amountNanos: 1n, budgets: [{ period: "day", limitNanos: 12n }] }),
      ],
      want: {
        kind: "budget_exceeded",
        owner: "key",
        period: "day",
        limitNanos: 12n,
        remainingNanos: 0n,
        heldNanos: 0n,
        neededNanos: 1n,
      },
      transfers: "h:r1 s:r1",
      balance: [87n, 0n, 13n],
    },
    {
      name: "of a checkpoint above the hold charges what else is available too",
      operations: [holdOf(), checkpointOf({ costNanos: 13n }), recover()],
      want: { kind: "recovered", settled: 1, voided: 0 },
      transfers: "h:r1 s:r1",
      balance: [87n, 0n, 13n],
    },
    {
      name: "of nothing is kept all the same",
      operations: [holdOf(), settleOf({ costNanos: 0n })],
      want: settled(0n),
      transfers: "h:r1 s:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of a free model has its transfers",
      operations: [holdOf({ amountNanos: 0n }), settleOf({ costNanos: 0n })],
      want: settled(0n),
      transfers: "h:r1 s:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "repeated answers the same and charges once",
      operations: [holdOf(), settleOf(), settleOf({ costNanos: 9n })],
      want: settled(4n, 0n, true),
      transfers: "h:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "with nothing generated charges nothing",
      operations: [holdOf(), voidOf({ costNanos: 5n })],
      want: settled(0n),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "after a void changes nothing",
      operations: [holdOf(), voidOf(), settleOf()],
      want: settled(0n, 0n, true),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "of an unknown request is refused",
      operations: [settleOf()],
      want: refused("unknown_request"),
      transfers: "",
      balance: [100n, 0n, 0n],
    },
    {
      name: "below zero is refused",
      operations: [holdOf(), settleOf({ costNanos: -1n })],
      want: refused("amount_invalid"),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "of more tokens than there are is refused",
      operations: [holdOf(), settleOf({ usage: usage(TOKENS_MAX + 1n) })],
      want: refused("amount_invalid"),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "after its node let it go charges the account itself",
      operations: [holdOf(), letGo(), settleOf()],
      want: settled(4n),
      transfers: "h:r1 x:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "after its node let it go charges what is left, and the operator the rest",
      operations: [holdOf(), letGo(), holdOf({ requestId: "r2", amountNanos: 97n }), settleOf()],
      want: settled(3n, 1n),
      transfers: "h:r1 x:r1 h:r2 s:r1 o:r1",
      balance: [0n, 97n, 3n],
    },
    {
      name: "after its node let it go charges what is available above the hold too",
      operations: [holdOf(), letGo(), settleOf({ costNanos: 12n })],
      want: settled(12n),
      transfers: "h:r1 x:r1 s:r1",
      balance: [88n, 0n, 12n],
    },
    {
      name: "after its node let it go happens once",
      operations: [holdOf(), letGo(), settleOf(), settleOf()],
      want: settled(4n, 0n, true),
      transfers: "h:r1 x:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "after its node let it go with nothing generated changes nothing",
      operations: [holdOf(), letGo(), voidOf()],
      want: settled(0n, 0n, true),
      transfers: "h:r1 x:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "after recovery voided the hold charges the account itself",
      operations: [holdOf(), recover(), settleOf()],
      want: settled(4n),
      transfers: "h:r1 v:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "after recovery charged the checkpoint changes nothing",
      operations: [holdOf(), checkpointOf(), recover(), settleOf()],
      want: settled(2n, 0n, true),
      transfers: "h:r1 s:r1",
      balance: [98n, 0n, 2n],
    },
  ])("$name", check);

  test("is recorded once, with the day on which its request was admitted", () => {
    const { book } = run([holdOf(), settleOf({ nowMs: Date.UTC(2026, 10, 22) }), settleOf()]);
    expect(book.usages).toHaveLength(1);
    expect(book.usages[0]).toMatchObject({ hold: { requestId: "r1" }, chargedNanos: 4n, usage: usage(3n) });
    expect(book.usageDays).toMatchObject([{ day: "2026-11-21", requestCount: 1, costNanos: 4n, usage: usage(3n) }]);
  });
});
