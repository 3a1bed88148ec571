/** Recovery, case by case. */
import { describe, expect, test } from "vitest";
import type { LedgerResult, NodeBeats } from "../../src/ledger/operation.js";
import { type Row, run, check, beat, recover, letGo } from "./cases.js";
import { NOON_MS, checkpointOf, holdOf, settleOf, usage } from "./operations.js";

describe("recovery", () => {
  const recovered = (settledCount: number, voided: number): LedgerResult => ({
    kind: "recovered",
    settled: settledCount,
    voided,
  });
  const HOUR_MS = 3_600_000;
  const seen = (nodeId: string, beats: number): NodeBeats => ({ nodeId, beats });
  test.each<Row>([
    {
      name: "frees the hold of an unknown node",
      operations: [holdOf(), recover()],
      want: recovered(0, 1),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "leaves the hold of a node that beats",
      operations: [beat("node_1"), holdOf(), recover()],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "frees the hold of a node that is silent",
      operations: [beat("node_1"), holdOf(), recover({ silent: [seen("node_1", 1)] })],
      want: recovered(0, 1),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "leaves the hold of a node that was silent and beat again",
      operations: [beat("node_1"), beat("node_1"), holdOf(), recover({ silent: [seen("node_1", 1)] })],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "frees the hold of a node that ended",
      operations: [beat("node_1"), holdOf(), beat("node_1", true), recover()],
      want: recovered(0, 1),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "leaves the holds of the node that recovers, though it never beat",
      operations: [holdOf(), recover({ nodeId: "node_1", silent: [seen("node_1", 1)] })],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    ...[-HOUR_MS, HOUR_MS, 24 * HOUR_MS].map((jumpMs) => ({
      name: `leaves the hold of a node that lives, though the clock jumps by ${jumpMs / HOUR_MS} h`,
      operations: [
        beat("node_1"),
        holdOf(),
        recover({ nodeId: "node_1", nowMs: NOON_MS + jumpMs }),
        recover({ nowMs: NOON_MS + jumpMs }),
      ],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n] as const,
    })),
    {
      name: "leaves the hold that its node answers for, where another of it is in doubt",
      operations: [holdOf(), recover({ nodeId: "node_1", live: new Set(["r1"]) })],
      want: recovered(0, 0),
      transfers: "h:r1",
      balance: [90n, 10n, 0n],
    },
    {
      name: "expires the hold that its own node does not answer for",
      operations: [holdOf(), letGo()],
      want: recovered(0, 1),
      transfers: "h:r1 x:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "charges the checkpoint of an orphan",
      operations: [holdOf(), checkpointOf(), recover()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [98n, 0n, 2n],
    },
    {
      name: "charges the checkpoint of a hold that its own node let go",
      operations: [holdOf(), checkpointOf(), letGo()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [98n, 0n, 2n],
    },
    {
      name: "settles a free checkpoint, because something was delivered",
      operations: [holdOf(), checkpointOf({ costNanos: 0n }), recover()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [100n, 0n, 0n],
    },
    {
      name: "charges what is above the hold as far as the account has it",
      operations: [holdOf(), checkpointOf({ costNanos: 102n }), recover()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1 o:r1",
      balance: [0n, 0n, 100n],
    },
    {
      name: "takes the newest checkpoint",
      operations: [holdOf(), checkpointOf(), checkpointOf({ costNanos: 3n, usage: usage(4n) }), recover()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [97n, 0n, 3n],
    },
    {
      name: "ignores a checkpoint that was overtaken",
      operations: [holdOf(), checkpointOf({ costNanos: 3n, usage: usage(4n) }), checkpointOf(), recover()],
      want: recovered(1, 0),
      transfers: "h:r1 s:r1",
      balance: [97n, 0n, 3n],
    },
    {
      name: "ignores a checkpoint after the settlement",
      operations: [holdOf(), settleOf(), checkpointOf({ costNanos: 9n }), recover()],
      want: recovered(0, 0),
      transfers: "h:r1 s:r1",
      balance: [96n, 0n, 4n],
    },
    {
      name: "does nothing twice",
      operations: [holdOf(), recover(), recover()],
      want: recovered(0, 0),
      transfers: "h:r1 v:r1",
      balance: [100n, 0n, 0n],
    },
  ])("$name", check);

  test("a node sees the others' beats when it beats, and forgets a silent one once nothing is left of it", () => {
    const silent = [seen("node_1", 2)];
    const { results } = run([beat("node_1"), beat("node_1"), beat("node_2"), recover({ silent }), beat("node_2")]);
    const beaten = results.filter((result) => result.kind === "beaten");
    expect(beaten.slice(-2)).toEqual([
      { kind: "beaten", others: silent },
      { kind: "beaten", others: [] },
    ]);
  });

  test("resolves at most 256 holds at a time", () => {
    const holds = Array.from({ length: 300 }, (_, index) => holdOf({ requestId: `r${index}`, amountNanos: 0n }));
    const { results } = run([...holds, recover(), recover()]);
    expect(results.slice(-2)).toEqual([recovered(0, 256), recovered(0, 44)]);
  });
});
