/** Operations for tests: what a test does not name has a plain value. */
import { Book } from "../../src/ledger/book.js";
import type {
  CheckpointOperation,
  CreditOperation,
  HoldOperation,
  SettleOperation,
} from "../../src/ledger/operation.js";
import { NO_USAGE } from "../../src/api/usage.js";
import type { Account } from "../../src/ledger/rows.js";
import { CHAIN_START } from "../../src/ledger/hash-chain.js";
import { type Meter, type Usage, UsageSource } from "../../src/api/index.js";
import { TEST_ACT } from "../support/acts.js";

/** 2026-11-21 12:00 UTC. */
export const NOON_MS = Date.UTC(2026, 10, 21, 12);
export const MINUTE_MS = 60_000;

/** Most usages have other units too, so that whatever stores and adds up usages is tried with them. */
function metersFor(tokens: bigint): Meter[] {
  if (tokens % 3n === 0n) return [];
  const units = { unit: "search_unit", variant: "", quantity: tokens };
  return tokens % 3n === 1n ? [units] : [{ unit: "picture", variant: "large", quantity: 2n }, units];
}

export function usage(outputTokens: bigint): Usage {
  return { ...NO_USAGE, outputTokens, meters: metersFor(outputTokens) };
}

export function holdOf(given: Partial<HoldOperation> = {}): HoldOperation {
  const amountNanos = given.amountNanos ?? 10n;
  return {
    kind: "hold",
    requestId: "r1",
    accountId: "acme",
    keyId: "key_1",
    model: "sim-1",
    amountNanos,
    leastNanos: amountNanos,
    budgets: [],
    price: new Uint8Array([8, 1]),
    nodeId: "node_1",
    nowMs: NOON_MS,
    expireTimeMs: (given.nowMs ?? NOON_MS) + MINUTE_MS,
    ...given,
  };
}

export function settleOf(given: Partial<SettleOperation> = {}): SettleOperation {
  return {
    kind: "settle",
    requestId: "r1",
    usage: usage(3n),
    usageSource: UsageSource.USAGE_SOURCE_REPORTED,
    costNanos: 4n,
    upstream: "sim",
    attempts: 1,
    attemptLog: "",
    nowMs: NOON_MS + 1000,
    ...given,
  };
}

/** A settlement of a request that generated nothing. */
export function voidOf(given: Partial<SettleOperation> = {}): SettleOperation {
  return settleOf({ usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n, ...given });
}

export function checkpointOf(given: Partial<CheckpointOperation> = {}): CheckpointOperation {
  return {
    kind: "checkpoint",
    requestId: "r1",
    usage: usage(2n),
    costNanos: 2n,
    upstream: "sim",
    attempts: 1,
    nowMs: NOON_MS + 500,
    ...given,
  };
}

export function creditOf(amountNanos: bigint, given: Partial<CreditOperation> = {}): CreditOperation {
  return { kind: "credit", creditId: "c1", accountId: "acme", nowMs: NOON_MS, act: TEST_ACT, ...given, amountNanos };
}

export type Limits = Pick<Account, "budgets" | "requestCostMaxNanos">;
export const NO_LIMITS: Limits = { budgets: [], requestCostMaxNanos: 0n };

/** A book with these accounts, all at zero. */
export function bookOf(customers: readonly string[], limits: Limits = NO_LIMITS): Book {
  const book = new Book();
  for (const id of customers) {
    const sums = { debitsPending: 0n, debitsPosted: 0n, creditsPosted: 0n, debitedNanos: 0n };
    const chain = { chainSequence: 0, chainHash: CHAIN_START.hash };
    const account: Account = { id, ...limits, ...sums, ...chain, frozen: false, short: false };
    book.accounts.set(id, account);
  }
  return book;
}
