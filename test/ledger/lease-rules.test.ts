/** Leases in the state machine: what is granted, what is drawn, what is asked back, and what a late record may cost. */
import { describe, expect, test } from "vitest";
import type { Book } from "../../src/ledger/book.js";
import type { MoneyLeaseOperation, LedgerResult, SettleOperation } from "../../src/ledger/operation.js";
import type { Account, Budget } from "../../src/ledger/rows.js";
import { available } from "../../src/ledger/rows.js";
import { decide } from "../../src/ledger/state.js";
import { bookOf, creditOf, holdOf, NOON_MS, settleOf, voidOf } from "./operations.js";

const DAY: Budget = { period: "day", limitNanos: 40n };

function leaseOf(given: Partial<MoneyLeaseOperation> = {}): MoneyLeaseOperation {
  const who = { leaseId: "l1", nodeId: "node_1", accountId: "acme", keyId: "key_1", budgets: [] };
  return { kind: "lease", ...who, amountNanos: 20n, requestNanos: 2n, nowMs: NOON_MS, ...given };
}

/** A book with money on an account, whose node lives. */
function funded(nanos = 100n, limits?: Pick<Account, "budgets" | "requestCostMaxNanos">): Book {
  const book = bookOf(["acme"], limits);
  decide(book, creditOf(nanos));
  decide(book, { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false });
  return book;
}

function acme(book: Book): { readonly available: bigint; readonly pending: bigint; readonly counted: bigint } {
  const account = book.account("acme");
  const [day] = book.counters("key_1", "acme", NOON_MS);
  return { available: available(account), pending: account.debitsPending, counted: day?.pendingNanos ?? 0n };
}

function lateSettle(given: Partial<SettleOperation> = {}): SettleOperation {
  const owner = { accountId: "acme", keyId: "key_1", model: "sim-1", nodeId: "node_1", price: new Uint8Array([8, 1]) };
  const terms = { ...owner, amountNanos: 10n, createTimeMs: NOON_MS, expireTimeMs: NOON_MS + 1, budgets: [] };
  return settleOf({ terms, ...given });
}

test("a lease is pending on the account and in its budgets, and a hold takes over what it draws of it", () => {
  const book = funded();
  expect(decide(book, leaseOf())).toEqual({ kind: "leased", amountNanos: 20n, requestCostMaxNanos: 0n });
  expect(acme(book)).toEqual({ available: 80n, pending: 20n, counted: 20n });
  expect(decide(book, holdOf({ amountNanos: 5n, leaseId: "l1" }))).toEqual({ kind: "held", amountNanos: 5n });
  expect(acme(book)).toEqual({ available: 80n, pending: 20n, counted: 20n });
  expect(decide(book, { kind: "return", leaseId: "l1", nowMs: NOON_MS })).toEqual({
    kind: "returned",
    amountNanos: 15n,
  });
  expect(acme(book)).toEqual({ available: 95n, pending: 5n, counted: 5n });
  decide(book, settleOf({ costNanos: 4n }));
  expect(acme(book)).toEqual({ available: 96n, pending: 0n, counted: 0n });
});

test("a grant is half of what is free at most, by balance, budgets of the key and budgets of the account", () => {
  const wanted = { amountNanos: 90n };
  const granted = (result: LedgerResult): bigint => (result.kind === "leased" ? result.amountNanos : -1n);
  expect(granted(decide(funded(), leaseOf(wanted)))).toBe(50n);
  expect(granted(decide(funded(), leaseOf({ ...wanted, budgets: [DAY] })))).toBe(20n);
  const limits = { budgets: [{ ...DAY, limitNanos: 30n }], requestCostMaxNanos: 7n };
  expect(decide(funded(100n, limits), leaseOf(wanted))).toEqual({
    kind: "leased",
    amountNanos: 15n,
    requestCostMaxNanos: 7n,
  });
});

test("a shortage begins below eight requests and ends at sixteen", () => {
  const book = funded(100n);
  const asked = (requestNanos: bigint, leaseId: string): LedgerResult =>
    decide(book, leaseOf({ leaseId, requestNanos, amountNanos: requestNanos }));
  expect(asked(12n, "l1").kind).toBe("leased");
  expect(asked(12n, "l2").kind).toBe("lease_refused");
  // 88 are free: enough for eight of these, but an account in shortage needs sixteen.
  expect(asked(11n, "l3").kind).toBe("lease_refused");
  expect(asked(5n, "l4").kind).toBe("leased");
  expect(asked(10n, "l5").kind).toBe("leased");
});

describe("no lease is granted", () => {
  test.each([
    { name: "to a node that is gone", given: { nodeId: "node_2" }, want: { kind: "lease_refused" } },
    { name: "of an account that is not there", given: { accountId: "x" }, want: { problem: "unknown_account" } },
    { name: "for less than one request", given: { amountNanos: 1n }, want: { problem: "amount_invalid" } },
  ])("$name", ({ given, want }) => {
    expect(decide(funded(), leaseOf(given))).toMatchObject(want);
  });

  test("of a frozen account", () => {
    const book = funded();
    book.accounts.set("acme", { ...book.account("acme"), frozen: true });
    expect(decide(book, leaseOf()).kind).toBe("lease_refused");
  });

  test("twice for one id", () => {
    const book = funded();
    decide(book, leaseOf());
    expect(decide(book, leaseOf())).toMatchObject({ kind: "leased", amountNanos: 20n });
    expect(acme(book).pending).toBe(20n);
  });
});

describe("a hold is not drawn from a lease", () => {
  test.each([
    { name: "that has ended", given: { leaseId: "l9" } },
    { name: "of another node", given: { nodeId: "node_2" } },
    { name: "of another key", given: { keyId: "key_2" } },
    { name: "of another day", given: { nowMs: NOON_MS + 86_400_000 } },
    { name: "that has less", given: { amountNanos: 21n } },
  ])("$name", ({ given }) => {
    const book = funded();
    decide(book, leaseOf());
    expect(decide(book, holdOf({ amountNanos: 5n, leaseId: "l1", ...given }))).toMatchObject({ problem: "lease_gone" });
    expect(acme(book)).toEqual({ available: 80n, pending: 20n, counted: 20n });
  });
});

describe("before a refusal", () => {
  test("leases are asked for, the account is short, and the hold is granted once they are back", () => {
    const book = funded();
    decide(book, leaseOf());
    const wanted = holdOf({ requestId: "r2", keyId: "key_2", amountNanos: 90n });
    expect(decide(book, wanted)).toMatchObject({
      kind: "recalling",
      leases: [{ leaseId: "l1", nodeId: "node_1" }],
      shortage: { kind: "balance_too_low", availableNanos: 80n, heldNanos: 20n, neededNanos: 90n },
    });
    expect(book.leases.get("l1")?.recalled).toBe(true);
    // Asked for already: nobody is named again, and there is no refusal for good.
    expect(decide(book, wanted)).toMatchObject({ kind: "recalling", leases: [] });
    decide(book, { kind: "return", leaseId: "l1", nowMs: NOON_MS });
    expect(decide(book, wanted)).toEqual({ kind: "held", amountNanos: 90n });
    expect(decide(book, leaseOf({ leaseId: "l2", requestNanos: 1n }))).toEqual({ kind: "lease_refused" });
  });

  test("what leases cannot mend is refused at once, as if they were back", () => {
    const book = funded();
    decide(book, leaseOf());
    expect(decide(book, holdOf({ requestId: "r2", amountNanos: 101n }))).toEqual({
      kind: "balance_too_low",
      availableNanos: 100n,
      heldNanos: 0n,
      neededNanos: 101n,
    });
    expect(book.leases.get("l1")?.recalled).toBe(false);
  });

  test("of a budget, leases under it are asked for", () => {
    const book = funded();
    decide(book, leaseOf({ budgets: [DAY] }));
    const wanted = holdOf({ requestId: "r2", amountNanos: 30n, budgets: [DAY] });
    expect(decide(book, wanted)).toMatchObject({ kind: "recalling", shortage: { kind: "budget_exceeded" } });
    decide(book, { kind: "return", leaseId: "l1", nowMs: NOON_MS });
    expect(decide(book, wanted).kind).toBe("held");
  });

  test("nobody is given less than leases would leave, unless they do not come", () => {
    const book = funded();
    decide(book, leaseOf());
    const wanted = holdOf({ requestId: "r2", amountNanos: 200n, leastNanos: 10n });
    expect(decide(book, wanted)).toEqual({
      kind: "recalling",
      leases: [{ leaseId: "l1", nodeId: "node_1" }],
      shortage: { kind: "balance_too_low", availableNanos: 80n, heldNanos: 20n, neededNanos: 10n },
    });
    expect(decide(book, wanted)).toEqual({ kind: "held", amountNanos: 80n });
  });
});

describe("leases end", () => {
  test("once: what is given back again frees nothing", () => {
    const book = funded();
    decide(book, leaseOf());
    const back = { kind: "return", leaseId: "l1", nowMs: NOON_MS } as const;
    const amounts = [decide(book, back), decide(book, back)];
    expect(amounts).toEqual([20n, 0n].map((amountNanos) => ({ kind: "returned", amountNanos })));
    expect(acme(book)).toEqual({ available: 100n, pending: 0n, counted: 0n });
  });

  test("with the last beat of their node", () => {
    const book = funded();
    decide(book, leaseOf());
    decide(book, { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: true });
    expect(acme(book)).toEqual({ available: 100n, pending: 0n, counted: 0n });
  });

  test("with a node that falls silent, which is never alive again under its id", () => {
    const book = funded();
    decide(book, leaseOf());
    const silent = [{ nodeId: "node_1", beats: 1 }];
    decide(book, { kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent });
    expect(acme(book)).toEqual({ available: 100n, pending: 0n, counted: 0n });
    const beat = { kind: "beat", nodeId: "node_1", nowMs: NOON_MS, isLast: false } as const;
    expect(decide(book, { ...beat, isFirst: false })).toEqual({ kind: "gone" });
    expect(decide(book, leaseOf({ leaseId: "l2" }))).toEqual({ kind: "lease_refused" });
  });

  test("not with one that beat since", () => {
    const book = funded();
    decide(book, leaseOf());
    decide(book, { kind: "recover", nodeId: "node_2", nowMs: NOON_MS, silent: [{ nodeId: "node_1", beats: 0 }] });
    expect(acme(book).pending).toBe(20n);
  });
});

test("a recall names all leases of an account, and no other's", () => {
  const book = funded();
  decide(book, leaseOf());
  decide(book, leaseOf({ leaseId: "l2", keyId: "key_2" }));
  const recalled = decide(book, { kind: "recall", accountId: "acme", nowMs: NOON_MS });
  expect(recalled).toMatchObject({ leases: [{ leaseId: "l1" }, { leaseId: "l2" }] });
  book.changedLeases.clear();
  expect(decide(book, { kind: "recall", accountId: "acme", nowMs: NOON_MS })).toEqual(recalled);
  // Nothing is written of what is asked back already.
  expect([...book.changedLeases]).toEqual([]);
  expect(decide(book, { kind: "recall", accountId: "other", nowMs: NOON_MS })).toEqual({
    kind: "recalled",
    leases: [],
  });
});

describe("a settlement whose hold was lost on its way", () => {
  test.each([
    { name: "is charged what it cost", credit: 100n, costNanos: 4n, charged: 4n, overage: 0n },
    { name: "is charged its hold at most", credit: 100n, costNanos: 15n, charged: 10n, overage: 5n },
    { name: "is charged what is free at most", credit: 3n, costNanos: 4n, charged: 3n, overage: 1n },
  ])("$name", ({ credit, costNanos, charged, overage }) => {
    const book = funded(credit);
    const want = { kind: "settled", chargedNanos: charged, overageNanos: overage };
    expect(decide(book, lateSettle({ costNanos }))).toEqual({ ...want, repeated: false });
    expect(decide(book, lateSettle({ costNanos }))).toEqual({ ...want, repeated: true });
    expect(acme(book)).toEqual({ available: credit - charged, pending: 0n, counted: 0n });
  });

  test("takes nothing that is leased", () => {
    const book = funded(10n);
    decide(book, leaseOf({ amountNanos: 5n, requestNanos: 1n }));
    expect(decide(book, lateSettle({ costNanos: 8n }))).toMatchObject({ chargedNanos: 5n, overageNanos: 3n });
  });

  test("charges nothing where nothing was generated, and leaves its record", () => {
    const book = funded();
    const { terms } = lateSettle();
    expect(decide(book, voidOf({ terms }))).toMatchObject({ kind: "settled", chargedNanos: 0n });
    expect(book.holds.get("r1")?.state).toBe("voided");
  });

  test("changes nothing where the hold is there", () => {
    const book = funded();
    decide(book, holdOf({ amountNanos: 6n }));
    expect(decide(book, lateSettle({ costNanos: 5n }))).toMatchObject({ chargedNanos: 5n, overageNanos: 0n });
    expect(acme(book).pending).toBe(0n);
  });
});
