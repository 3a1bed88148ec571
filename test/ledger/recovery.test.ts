/** Recovery, case by case. */
import { describe, expect, test } from "vitest";
import type { LedgerResult } from "../../src/ledger/operation.js";
import { type Row, run, check, beat, recover, BEFORE_EXPIRY_MS, AFTER_EXPIRY_MS } from "./cases.js";
import { NOON_MS, checkpointOf, holdOf, settleOf, usage } from "./operations.js";

describe("recovery", () => {
  const recovered = (settledCount: number, voided: number): LedgerResult => ({
    kind: "recovered",
    settled: settledCount,
    voided,
  });
  const alive = beat("node_1", NOON_MS + 15_000);
  test.each<Row>([
    {
      name: "frees the hold of an unknown node",
      operations: [holdOf(), recover(NOON_MS)],
      want: recovered(0, 1),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "leaves the hold of a node with a lease",
      operations: [holdOf(), alive, recover(NOON_MS + 15_000)],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "frees the hold of a node whose lease lapsed",
      operations: [holdOf(), alive, recover(NOON_MS + 15_001)],
      want: recovered(0, 1),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "leaves the holds of the node that recovers, whatever its lease says",
      operations: [holdOf(), recover(NOON_MS, "node_1")],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "leaves a hold until its expiry",
      operations: [holdOf(), beat("node_1", AFTER_EXPIRY_MS), recover(BEFORE_EXPIRY_MS)],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "expires a hold past its time, though its node lives",
      operations: [holdOf(), beat("node_1", AFTER_EXPIRY_MS), recover(AFTER_EXPIRY_MS, "node_1")],
      want: recovered(0, 1),
      transfers: "h:r1 x:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "charges the checkpoint of an orphan",
      operations: [holdOf(), checkpointOf(), recover(NOON_MS)],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [98n, 0n, 2n],
    },
    {
      name: "charges the checkpoint of an expired hold",
      operations: [holdOf(), checkpointOf(), recover(AFTER_EXPIRY_MS, "node_1")],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [98n, 0n, 2n],
    },
    {
      name: "settles a free checkpoint, because something was delivered",
      operations: [holdOf(), checkpointOf({ costNanos: 0n }), recover(NOON_MS)],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "charges no more than the hold",
      operations: [holdOf(), checkpointOf({ costNanos: 12n }), recover(NOON_MS)],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1 o:r1",
      balance: [90n, 0n, 10n],
    },
    {
      name: "takes the newest checkpoint",
      operations: [holdOf(), checkpointOf(), checkpointOf({ costNanos: 3n, usage: usage(4n) }), recover(NOON_MS)],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [97n, 0n, 3n],
    },
    {
      name: "ignores a checkpoint that was overtaken",
      operations: [holdOf(), checkpointOf({ costNanos: 3n, usage: usage(4n) }), checkpointOf(), recover(NOON_MS)],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [97n, 0n, 3n],
    },
    {
      name: "ignores a checkpoint after the settlement",
      operations: [holdOf(), settleOf(), checkpointOf({ costNanos: 9n }), recover(NOON_MS)],
      want: recovered(0, 0),
      transfers: "h:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "does nothing twice",
      operations: [holdOf(), recover(NOON_MS), recover(NOON_MS)],
      want: recovered(0, 0),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
  ])("$name", check);

  test("resolves at most 256 holds at a time", () => {
    const holds = Array.from({ length: 300 }, (_, index) => holdOf({ requestId: `r${index}`, amountNanos: 0n }));
    const { results } = run([...holds, recover(NOON_MS), recover(NOON_MS)]);
    expect(results.slice(-2)).toEqual([recovered(0, 256), recovered(0, 44)]);
  });
});
