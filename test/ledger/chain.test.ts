/** The chains of accounts, and the sums over all of them. */
import { expect, test } from "vitest";
import { TOTAL_NANOS_MAX } from "../../src/ledger/book.js";
import { CHAIN_START, holdRecord, transferHash, usageRecord } from "../../src/ledger/hash-chain.js";
import { USAGE_FIELDS } from "../../src/api/usage.js";
import { run } from "./cases.js";
import { creditOf, holdOf, settleOf } from "./operations.js";
import { TEST_ACT } from "../support/acts.js";

test("each transfer carries a hash of the one before it, of all that it says, and of what it records", () => {
  const { book } = run([holdOf(), settleOf({ costNanos: 13n })]);
  const records = ["", ...book.createdHolds.map(holdRecord), ...book.usages.map(usageRecord), ""];
  let head = CHAIN_START;
  for (const [index, transfer] of book.transfers.entries()) {
    const record = records[index] ?? "";
    const hashOf = (changes: object): string => transferHash(head.hash, { ...transfer, ...changes }, record);
    expect(transfer.hash).toEqual(hashOf({}));
    const changes = {
      kind: transfer.kind === "void" ? "settle" : "void",
      createTimeMs: 0,
      postedNanos: 999n,
      pendingNanos: 999n,
      accountId: "other",
      causeId: "r9",
      holdSequence: 7,
      sequence: 9,
      accountSequence: 9,
    };
    for (const [field, value] of Object.entries(changes))
      expect(hashOf({ [field]: value }), field).not.toEqual(transfer.hash);
    expect(transferHash(transfer.hash, transfer, record)).not.toEqual(transfer.hash);
    expect(transferHash(head.hash, transfer, `${record} `)).not.toEqual(transfer.hash);
    head = transfer;
  }
});

test("each account has a chain of its own, without gaps, whatever is written between", () => {
  const { book } = run([
    creditOf(50n, { accountId: "other", creditId: "c2" }),
    holdOf(),
    holdOf({ requestId: "r2", accountId: "other" }),
    settleOf({ costNanos: 13n }),
    settleOf({ requestId: "r2" }),
  ]);
  const places = (accountId: string) =>
    book.transfers.filter((row) => row.accountId === accountId).map((row) => row.accountSequence);
  expect(places("acme")).toEqual([1, 2, 3]);
  expect(places("other")).toEqual([1, 2, 3]);
  expect(book.transfers.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  for (const id of ["acme", "other"]) {
    const last = book.transfers.findLast((row) => row.accountId === id);
    expect(book.account(id)).toMatchObject({ chainSequence: last?.accountSequence, chainHash: last?.hash });
  }
});

test("what the operator gave, bears and is owed is added up by kind, and each has room to four billion USD", () => {
  const { book } = run([
    holdOf(),
    settleOf({ costNanos: 113n }),
    {
      kind: "refund",
      refundId: "f1",
      requestId: "r1",
      amountNanos: 7n,
      reason: "x",
      actor: "y",
      nowMs: 0,
      act: TEST_ACT,
    },
    {
      kind: "debit",
      debitId: "d1",
      accountId: "acme",
      amountNanos: 9n,
      reason: "x",
      actor: "y",
      nowMs: 0,
      act: TEST_ACT,
    },
  ]);
  const { granted, overage, receivable } = book.totals;
  expect([granted.addedNanos, overage.addedNanos, receivable.addedNanos]).toEqual([107n, 13n, 2n]);
  expect(book.roomFor("overage")).toBe(TOTAL_NANOS_MAX - 13n);
  book.forgetChanges(0);
  expect([granted, overage, receivable].map(({ nanos, addedNanos }) => [nanos, addedNanos])).toEqual([
    [107n, 0n],
    [13n, 0n],
    [2n, 0n],
  ]);
});

test("what a transfer records of a hold and of a usage is all of it", () => {
  const { book } = run([holdOf(), settleOf({ costNanos: 13n })]);
  const [hold] = book.createdHolds;
  const [used] = book.usages;
  expect(hold && used).toBeDefined();
  const terms = {
    requestId: "r9",
    accountId: "other",
    keyId: "key_9",
    model: "sim-9",
    nodeId: "node_9",
    wantedNanos: 9n,
    amountNanos: 9n,
    price: new Uint8Array([9]),
    createTimeMs: 9,
    expireTimeMs: 9,
  };
  for (const [field, value] of Object.entries(terms))
    expect(holdRecord({ ...hold!, [field]: value }), field).not.toBe(holdRecord(hold!));
  const tokens = USAGE_FIELDS.map((field) => ["usage", { ...used!.usage, [field]: 9n }] as const);
  const ends = { upstream: "u", attempts: 9, usageSource: 2, chargedNanos: 9n, overageNanos: 9n, endTimeMs: 9 };
  const logs = [null, "[]"].map((attemptLog) => ["attemptLog", attemptLog] as const);
  const costs = [0n, 9n].map((nanos) => ["operatorCostNanos", nanos] as const);
  for (const [field, value] of [...Object.entries(ends), ...tokens, ...logs, ...costs])
    expect(usageRecord({ ...used!, [field]: value }), field).not.toBe(usageRecord(used!));
});
