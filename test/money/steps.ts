/** Random lives of a ledger: two nodes, three keys in a line, a clock that jumps, over midnight and a month's end. */
import { fc } from "../support/seeds.js";
import { UsageSource } from "../../src/api/index.js";
import type { Budget, KeyBudget, LedgerOperation } from "../../src/ledger/operation.js";
import type { CreditLine } from "../../src/ledger/rows.js";
import { checkpointOf, creditOf, holdOf, settleOf, usage, voidOf } from "../ledger/operations.js";
import { makersOf } from "./key-line.js";
import { TEST_ACT } from "../support/acts.js";

export const ACCOUNTS = ["acme", "other"];
/** Shortly before a new month. */
const START_MS = Date.UTC(2026, 10, 30, 23, 58);

const requestId = fc.integer({ min: 1, max: 24 }).map((id) => `r${id}`);
/** The last one does not exist. */
const accountId = fc.constantFrom("acme", "acme", "acme", "other", "nobody");
const nodeId = fc.constantFrom("node_1", "node_2");
const amount = fc.oneof(fc.bigInt(0n, 30n), fc.constantFrom(0n, 1n, 1000n));
const period = fc.constantFrom<Budget["period"]>("day", "week", "month", "quarter", "total");
const keyId = fc.constantFrom("key_1", "key_2", "key_3");
/** A key may bring budgets of its own and of those that made it. */
const keyed = keyId.chain((id) => {
  const makerId = fc.constantFrom(undefined, undefined, ...makersOf(id));
  const budget: fc.Arbitrary<KeyBudget> = fc.record({ period, limitNanos: fc.bigInt(0n, 80n), makerId });
  return fc.record({ keyId: fc.constant(id), budgets: fc.array(budget, { maxLength: 2 }) });
});

const hold = fc
  .record({
    requestId,
    accountId,
    nodeId,
    keyed,
    amountNanos: amount,
    share: fc.constantFrom(0n, 1n, 2n, 2n),
    lifeMs: fc.integer({ min: 1, max: 120_000 }),
  })
  .map(({ share, lifeMs, amountNanos, keyed: key, ...rest }) => (nowMs: number): LedgerOperation => {
    const leastNanos = (amountNanos * share) / 2n;
    return holdOf({ ...rest, ...key, amountNanos, leastNanos, nowMs, expireTimeMs: nowMs + lifeMs });
  });

const settle = fc
  .record({
    requestId,
    costNanos: amount,
    usageSource: fc.constantFrom(UsageSource.USAGE_SOURCE_REPORTED, UsageSource.USAGE_SOURCE_COUNTED),
  })
  .map(
    (given) =>
      (nowMs: number): LedgerOperation =>
        settleOf({ ...given, nowMs }),
  );

const nothing = requestId.map(
  (id) =>
    (nowMs: number): LedgerOperation =>
      voidOf({ requestId: id, nowMs }),
);

const checkpoint = fc.record({ requestId, costNanos: fc.bigInt(0n, 20n), tokens: fc.bigInt(0n, 20n) }).map(
  ({ tokens, ...rest }) =>
    (nowMs: number): LedgerOperation =>
      checkpointOf({ ...rest, usage: usage(tokens), nowMs }),
);

const credit = fc
  .record({ creditId: fc.integer({ min: 1, max: 8 }), accountId, amountNanos: fc.constantFrom(0n, 20n, 50n) })
  .map(
    ({ creditId, accountId, amountNanos }) =>
      (nowMs: number): LedgerOperation =>
        creditOf(amountNanos, { creditId: `c${creditId}`, accountId, nowMs }),
  );

const renew = accountId.map((id) => (nowMs: number): LedgerOperation => ({ kind: "renew", accountId: id, nowMs }));

const reason = fc.constantFrom("cut", "never paid, said the bank");
const refund = fc
  .record({
    refundId: fc.integer({ min: 1, max: 12 }).map((id) => `f${id}`),
    requestId,
    amountNanos: fc.constantFrom(0n, 0n, 1n, 3n),
    reason,
  })
  .map((given) => (nowMs: number): LedgerOperation => ({
    kind: "refund",
    actor: "key_op",
    nowMs,
    act: TEST_ACT,
    ...given,
  }));

const debit = fc
  .record({
    debitId: fc.integer({ min: 1, max: 8 }).map((id) => `d${id}`),
    accountId,
    amountNanos: fc.constantFrom(1n, 7n, 60n),
    reason,
  })
  .map((given) => (nowMs: number): LedgerOperation => ({
    kind: "debit",
    actor: "key_op",
    nowMs,
    act: TEST_ACT,
    ...given,
  }));

const beat = fc.record({ nodeId, isLast: fc.boolean() }).map((given) => (nowMs: number): LedgerOperation => ({
  kind: "beat",
  nowMs,
  ...given,
}));

/** A node may be silent, beat meanwhile, or not be known; and what a node answers for may be anything of its own. */
const recover = fc
  .record({
    nodeId,
    silent: fc.array(fc.record({ nodeId, beats: fc.integer({ min: 1, max: 3 }) }), { maxLength: 2 }),
    live: fc.option(
      fc.array(requestId).map((ids) => new Set(ids)),
      { nil: undefined },
    ),
  })
  .map((given) => (nowMs: number): LedgerOperation => ({ kind: "recover", nowMs, ...given }));

const step = fc.record({
  /** The clock may stand, go, leap, and jump back. */
  advanceMs: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
    { weight: 1, arbitrary: fc.constantFrom(16_000, 130_000, -20_000, 86_400_000) },
  ),
  operation: fc.oneof(
    { weight: 8, arbitrary: hold },
    { weight: 6, arbitrary: settle },
    { weight: 2, arbitrary: nothing },
    { weight: 3, arbitrary: checkpoint },
    { weight: 3, arbitrary: credit },
    { weight: 1, arbitrary: renew },
    { weight: 6, arbitrary: refund },
    { weight: 1, arbitrary: debit },
    { weight: 2, arbitrary: beat },
    { weight: 2, arbitrary: recover },
  ),
});

/** The credit line of one account; lines of others are none. */
export const creditLines: fc.Arbitrary<CreditLine | undefined> = fc.option(
  fc.record({
    amountNanos: fc.bigInt(1n, 60n),
    period: fc.constantFrom<CreditLine["period"]>("day", "week", "month", "quarter"),
  }),
  { nil: undefined },
);

/** A life of so many operations at most, each with its time. */
export function lives(operationsMax: number): fc.Arbitrary<readonly LedgerOperation[]> {
  return fc.array(step, { minLength: 1, maxLength: operationsMax, size: "max" }).map((steps) => {
    let nowMs = START_MS;
    return steps.map(({ advanceMs, operation }) => {
      nowMs += advanceMs;
      return operation(nowMs);
    });
  });
}
