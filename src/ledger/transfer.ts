/** The transfers of the ledger: append-only rows, each with the hash of the one before it in its account. */
import { hash } from "node:crypto";
import {
  type Account,
  type HoldTerms,
  type MoneyLeaseRow,
  type Note,
  OPERATOR_DEBITS,
  OPERATOR_GRANTS,
  OPERATOR_OVERAGE,
  OPERATOR_RECEIVABLES,
  OPERATOR_REFUNDS,
  OPERATOR_REVENUE,
  type UsageRow,
} from "./rows.js";
import { usageText } from "./usage.js";

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

/** The last transfer of the ledger, or of an account. */
export interface ChainHead {
  readonly sequence: number;
  /** In hex. */
  readonly hash: string;
}

/** The chain head of a ledger or an account without transfers. */
export const CHAIN_START: ChainHead = { sequence: 0, hash: "00".repeat(32) };

/** The id of a transfer, derived from its cause, so that nothing can happen twice. */
export function transferId({ kind, causeId }: Pick<TransferContent, "kind" | "causeId">): string {
  return `${LETTERS[kind]}:${causeId}`;
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

/** The SHA-256 over the previous hash, the whole transfer, and the record that it was written with. */
export function transferHash(previousHash: string, said: Omit<Transfer, "hash">, record: string): string {
  const { sequence, accountSequence, holdSequence, pendingNanos, postedNanos, createTimeMs } = said;
  const numbers = `${sequence} ${accountSequence} ${holdSequence} ${pendingNanos} ${postedNanos} ${createTimeMs}`;
  const texts = `${spelled(transferId(said))}${spelled(said.accountId)}`;
  return hash("sha256", `${previousHash} ${numbers} ${texts}${record}`, "hex");
}

/** A transfer linked to the last one of its account. */
export function linkTransfer(account: Account, sequence: number, said: TransferContent, record: string): Transfer {
  const { kind, accountId, causeId, holdSequence, pendingNanos, postedNanos, createTimeMs } = said;
  const transfer = {
    kind,
    accountId,
    causeId,
    holdSequence,
    pendingNanos,
    postedNanos,
    createTimeMs,
    sequence,
    accountSequence: account.chainSequence + 1,
    hash: "",
  };
  transfer.hash = transferHash(account.chainHash, transfer, record);
  return transfer;
}

/** What the hash of a hold's transfer covers: the whole hold. */
export function holdRecord(hold: HoldTerms): string {
  const { wantedNanos, amountNanos, createTimeMs, expireTimeMs, price } = hold;
  const texts = `${spelled(hold.requestId)}${spelled(hold.accountId)}${spelled(hold.keyId)}${spelled(hold.model)}`;
  const lease = hold.leaseId === "" ? "" : spelled(hold.leaseId);
  const numbers = `${wantedNanos} ${amountNanos} ${createTimeMs} ${expireTimeMs}`;
  return `${texts}${spelled(hold.nodeId)}${lease}${numbers} ${hexOf(price)}`;
}

/** What the hashes of a lease's transfers cover, beside the amount. */
export function leaseRecord({ nodeId, keyId }: Pick<MoneyLeaseRow, "nodeId" | "keyId">): string {
  return `${spelled(nodeId)}${spelled(keyId)}`;
}

/** What the hash of the transfer that ended a request covers: the whole usage. */
export function usageRecord(row: Omit<UsageRow, "hold" | "sequence">): string {
  const { usageSource, chargedNanos, overageNanos, attempts, endTimeMs, usage } = row;
  const numbers = `${usageSource} ${chargedNanos} ${overageNanos} ${attempts} ${endTimeMs}`;
  const text = `${spelled(row.upstream)}${numbers}${usageText(usage)}`;
  // Rows of a schema that kept no log, or no cost, say nothing of it, so that they fit their hashes for ever.
  const logged = row.attemptLog === null ? text : `${text} ${spelled(row.attemptLog)}`;
  return row.operatorCostNanos === undefined ? logged : `${logged} operatorCostNanos ${row.operatorCostNanos}`;
}

/** What the hash of a correction's transfer covers, beside the amount: its reason and its actor. */
export function noteRecord({ reason, actor }: Note): string {
  return `${spelled(reason)}${spelled(actor)}`;
}

/** There are few prices, and requests at one price often follow each other. */
let lastPrice: { readonly bytes: Uint8Array; readonly hex: string } = { bytes: new Uint8Array(), hex: "" };

function hexOf(bytes: Uint8Array): string {
  if (lastPrice.bytes !== bytes) lastPrice = { bytes, hex: Buffer.from(bytes).toString("hex") };
  return lastPrice.hex;
}

/** A text with its length before it, so that its end is unambiguous. */
function spelled(text: string): string {
  return `${text.length}:${text} `;
}
