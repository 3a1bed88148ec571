/** What a node admits against the leases in its memory, and what it must give back. */
import { dayNumber } from "../../src/base/day.js";
import { describe, expect, test } from "vitest";
import { type Draw, type NodeLease, NodeLeases, SILENCE_MS } from "../../src/ledger/node-leases.js";
import type { KeyBudget } from "../../src/ledger/rows.js";
import { NOON_MS } from "./operations.js";

const BUDGETS: readonly KeyBudget[] = [{ period: "day", limitNanos: 100n }];

function leaseOf(given: Partial<NodeLease> = {}): NodeLease {
  const who = { id: "l1", accountId: "acme", keyId: "key_1", budgets: BUDGETS, day: dayNumber(NOON_MS) };
  return { ...who, requestCostMaxNanos: 0n, grantedNanos: 10n, restNanos: 10n, drawnMs: 0, ...given };
}

function drawOf(amountNanos: bigint, given: Partial<Draw> = {}): Draw {
  return { accountId: "acme", keyId: "key_1", budgets: BUDGETS, amountNanos, ...given };
}

/** A node that beat at zero of its clock of durations, with these leases. */
function nodeWith(...leases: readonly NodeLease[]): NodeLeases {
  const node = new NodeLeases();
  node.beaten({ wallMs: NOON_MS, monotonicMs: 0 });
  for (const lease of leases) node.add(lease);
  return node;
}

const ids = (leases: Iterable<NodeLease>): string[] => [...leases].map(({ id }) => id);

test("a lease is drawn on for whole requests, until it has too little for the next", () => {
  const node = nodeWith(leaseOf());
  expect(node.draw(drawOf(6n), NOON_MS, NOON_MS, 0)?.restNanos).toBe(4n);
  expect(node.draw(drawOf(5n), NOON_MS, NOON_MS, 0)).toBeUndefined();
  expect(node.draw(drawOf(4n), NOON_MS, NOON_MS, 0)?.id).toBe("l1");
  expect(node.restOf("key_1")).toBe(0n);
});

test("one that has too little ends where another follows", () => {
  const node = nodeWith(leaseOf(), leaseOf({ id: "l2", restNanos: 20n }));
  expect(node.draw(drawOf(12n), NOON_MS, NOON_MS, 0)?.id).toBe("l2");
  expect(ids(node.ending)).toEqual(["l1"]);
});

describe("nothing is admitted, and the lease is given back,", () => {
  test.each([
    { name: "on another day", wallMs: NOON_MS + 12 * 3_600_000, monotonicMs: 12 * 3_600_000 - 1, beats: true },
    { name: "on another day of the store, whatever the machine says", nowMs: NOON_MS + 12 * 3_600_000 },
    { name: "under other budgets", given: { budgets: [{ period: "day", limitNanos: 99n }] } as const },
    { name: "for another account", given: { accountId: "other" } },
    {
      name: "once its beats were not answered for long",
      wallMs: NOON_MS + SILENCE_MS,
      monotonicMs: SILENCE_MS - 2_000,
    },
    { name: "once the machine was suspended", wallMs: NOON_MS + 60_000, monotonicMs: 0 },
  ])("$name", ({ wallMs = NOON_MS, nowMs = wallMs, monotonicMs = 0, given = {}, beats = false }) => {
    const node = nodeWith(leaseOf());
    if (beats) node.beaten({ wallMs, monotonicMs });
    expect(node.draw(drawOf(1n, given), nowMs, wallMs, monotonicMs)).toBeUndefined();
    expect(ids(node.ending)).toEqual(["l1"]);
    expect(node.size).toBe(0);
  });
});

test("equal budgets need not be the same ones", () => {
  expect(nodeWith(leaseOf()).draw(drawOf(1n, { budgets: [{ ...BUDGETS[0]! }] }), NOON_MS, NOON_MS, 0)?.id).toBe("l1");
});

test("a request above what one may cost goes the exact way, and the lease stays", () => {
  const node = nodeWith(leaseOf({ requestCostMaxNanos: 3n }));
  expect(node.draw(drawOf(4n), NOON_MS, NOON_MS, 0)).toBeUndefined();
  expect(node.draw(drawOf(3n), NOON_MS, NOON_MS, 0)?.id).toBe("l1");
});

test("leases of an account end together", () => {
  const node = nodeWith(
    leaseOf(),
    leaseOf({ id: "l2", keyId: "key_2" }),
    leaseOf({ id: "l3", accountId: "b", keyId: "k" }),
  );
  node.endWhere(({ accountId }) => accountId === "acme");
  expect([ids(node.ending), ids(node.values())]).toEqual([["l1", "l2"], ["l3"]]);
});
