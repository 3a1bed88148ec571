/** The transfers of the ledger: append-only rows, each with the hash of the one before it in its account. */
import {
  OPERATOR_DEBITS,
  OPERATOR_GRANTS,
  OPERATOR_OVERAGE,
  OPERATOR_RECEIVABLES,
  OPERATOR_REFUNDS,
  OPERATOR_REVENUE,
} from "./rows.js";

export type TransferKind =
  | "lease"
  | "return"
  | "hold"
  | "settle"
  | "void"
  | "expire"
  | "overage"
  | "credit"
  | "refund"
  | "debit"
  | "receivable";

/** Corrections: transfers that an operator names with an id, and that are not credits. */
export type CorrectionKind = Extract<TransferKind, "refund" | "debit" | "receivable">;

/** The letter before the id of the request, credit or correction in a transfer's id. */
const LETTERS = {
  lease: "l",
  return: "b",
  hold: "h",
  settle: "s",
  void: "v",
  expire: "x",
  overage: "o",
  credit: "c",
  refund: "r",
  debit: "d",
  receivable: "y",
} as const satisfies Record<TransferKind, string>;

/** What a transfer moves. Both sides change by the same amounts, so all accounts together stay at zero. */
export interface TransferContent {
  readonly kind: TransferKind;
  /** The customer account. */
  readonly accountId: string;
  /** The request that caused it, or the lease, credit, refund or debit. */
  readonly causeId: string;
  /** True for a hold that was drawn from a lease: its money was pending before. */
  readonly isLeased?: boolean | undefined;
  /** The sequence of the request's hold; zero for credits and debits. A hold's is its own. */
  readonly holdSequence: number;
  /** The change of the pending sums: positive if money is held, negative if it is freed. */
  readonly pendingNanos: bigint;
  /** The change of the posted sums: money that is paid for good. */
  readonly postedNanos: bigint;
  readonly createTimeMs: number;
}

export interface Transfer extends TransferContent {
  /** Its position in the ledger, from 1: rises within an account. If one process writes all, there are no gaps. */
  readonly sequence: number;
  /** Its position in its account's chain, from 1, without gaps. */
  readonly accountSequence: number;
  /** Covers the whole transfer, the record that it belongs to, and the previous hash; in hex. */
  readonly hash: string;
}

/** The id of a transfer, derived from its cause, so that nothing can happen twice. */
export function transferId({ kind, causeId }: Pick<TransferContent, "kind" | "causeId">): string {
  return `${LETTERS[kind]}:${causeId}`;
}

/** The request id of a job's line, or of a session's slice. */
export function partId(wholeId: string, number: number): string {
  return `${wholeId}:${number}`;
}

/** The account that a transfer debits. */
export function debitAccount({ kind, accountId }: Pick<TransferContent, "kind" | "accountId">): string {
  switch (kind) {
    case "credit":
      return OPERATOR_GRANTS;
    case "overage":
      return OPERATOR_OVERAGE;
    case "refund":
      return OPERATOR_REFUNDS;
    case "receivable":
      return OPERATOR_RECEIVABLES;
    default:
      return accountId;
  }
}

/** The account that a transfer credits. */
export function creditAccount({ kind, accountId }: Pick<TransferContent, "kind" | "accountId">): string {
  if (kind === "credit" || kind === "refund") return accountId;
  return kind === "debit" || kind === "receivable" ? OPERATOR_DEBITS : OPERATOR_REVENUE;
}
