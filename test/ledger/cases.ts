/** Runs the cases of the state machine: operations in, the last answer, the transfers and the balance out. */
import { expect } from "vitest";
import type { Book } from "../../src/ledger/book.js";
import type { LedgerOperation, LedgerResult, RecoverOperation } from "../../src/ledger/operation.js";
import { available } from "../../src/ledger/rows.js";
import { decide } from "../../src/ledger/state.js";
import { transferId } from "../../src/ledger/transfer.js";
import { type Limits, NOON_MS, bookOf, creditOf } from "./operations.js";

/** A case of the state machine. */
export interface Row {
  readonly name: string;
  /** After a credit of 100 to acme. */
  readonly operations: readonly LedgerOperation[];
  /** What the last operation answers. */
  readonly want: LedgerResult;
  /** The transfers after the credit's. */
  readonly transfers: string;
  /** Available, held, spent. */
  readonly balance: readonly [bigint, bigint, bigint];
}

/** Decides a credit of 100 to acme, and then the operations. */
export function run(
  operations: readonly LedgerOperation[],
  limits?: Limits,
): { book: Book; results: readonly LedgerResult[] } {
  const book = bookOf(["acme", "other"], limits);
  const results = [creditOf(100n), ...operations].map((operation) => decide(book, operation));
  return { book, results };
}

export function check({ operations, want, transfers, balance }: Row): void {
  const { book, results } = run(operations);
  expect(results.at(-1)).toEqual(want);
  expect(book.transfers.slice(1).map(transferId).join(" ")).toBe(transfers);
  const acme = book.account("acme");
  expect([available(acme), acme.debitsPending, acme.debitsPosted]).toEqual(balance);
}

export const refused = (problem: (LedgerResult & { kind: "refused" })["problem"]): LedgerResult => ({
  kind: "refused",
  problem,
});
export const settled = (chargedNanos: bigint, overageNanos = 0n, repeated = false): LedgerResult => ({
  kind: "settled",
  chargedNanos,
  overageNanos,
  repeated,
});
export const held = (amountNanos: bigint): LedgerResult => ({ kind: "held", amountNanos });
export const beat = (nodeId: string, isLast = false): LedgerOperation => ({
  kind: "beat",
  nodeId,
  isLast,
  nowMs: NOON_MS,
});
export const recover = (given: Partial<RecoverOperation> = {}): LedgerOperation => ({
  kind: "recover",
  nodeId: "node_2",
  nowMs: NOON_MS,
  silent: [],
  ...given,
});
/** Recovery by the node that has the hold and answers for nothing any more. */
export const letGo = (): LedgerOperation => recover({ nodeId: "node_1", live: new Set() });
