/** The transfers of the ledger: append-only rows, each of which carries the hash of the one before it. */
import { hash } from "node:crypto";

export type TransferKind = "hold" | "settle" | "void" | "expire" | "overage" | "credit";

/** The letter before the request's id, or the credit's, in a transfer's id. */
const LETTERS = {
  hold: "h",
  settle: "s",
  void: "v",
  expire: "x",
  overage: "o",
  credit: "c",
} as const satisfies Record<TransferKind, string>;

/** What a transfer moves. Both sides change by the same amounts, so all accounts together stay at zero. */
export interface TransferContent {
  readonly kind: TransferKind;
  readonly debitAccount: string;
  readonly creditAccount: string;
  /** The customer that it concerns. */
  readonly accountId: string;
  /** How the pending sums change: above zero where money is set aside, below where it is freed. */
  readonly pendingNanos: bigint;
  /** How the posted sums change: what is paid for good. */
  readonly postedNanos: bigint;
  /** The request that caused it. Empty for credits. */
  readonly requestId: string;
  readonly createTimeMs: number;
}

export interface Transfer extends TransferContent {
  /** Derived from what caused it, so that nothing can happen twice. */
  readonly id: string;
  /** Its place in the ledger, from 1, without gaps. */
  readonly sequence: number;
  readonly previousHash: Buffer;
  readonly hash: Buffer;
}

/** The last transfer, as far as the next one needs it. */
export interface ChainHead {
  readonly sequence: number;
  readonly hash: Buffer;
}

/** Where a ledger without transfers stands. */
export const CHAIN_START: ChainHead = { sequence: 0, hash: Buffer.alloc(32) };

/** The id of the transfer of this kind that this request, or credit, causes. */
export function transferId(kind: TransferKind, causeId: string): string {
  return `${LETTERS[kind]}:${causeId}`;
}

/** The SHA-256 over everything a transfer says, and over the hash before it. */
export function transferHash(transfer: Omit<Transfer, "hash">): Buffer {
  // A JSON list of texts has one spelling, whatever characters an id holds.
  const text = JSON.stringify([
    transfer.previousHash.toString("hex"),
    String(transfer.sequence),
    transfer.id,
    transfer.kind,
    transfer.debitAccount,
    transfer.creditAccount,
    transfer.accountId,
    transfer.pendingNanos.toString(),
    transfer.postedNanos.toString(),
    transfer.requestId,
    String(transfer.createTimeMs),
  ]);
  return hash("sha256", text, "buffer");
}

/** Puts a transfer behind the last one. */
export function linkTransfer(head: ChainHead, causeId: string, content: TransferContent): Transfer {
  const unsigned = {
    ...content,
    id: transferId(content.kind, causeId),
    sequence: head.sequence + 1,
    previousHash: head.hash,
  };
  return { ...unsigned, hash: transferHash(unsigned) };
}
