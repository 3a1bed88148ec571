/** The hash chain of each account: what a transfer's hash covers, and how the next transfer continues the chain. */
import { hash } from "node:crypto";
import type { Account, HoldTerms, MoneyLeaseRow, Note, UsageRow } from "./rows.js";
import { type Transfer, type TransferContent, transferId } from "./transfer.js";
import { usageText } from "./usage.js";

/** The last transfer of the ledger, or of an account. */
export interface ChainHead {
  readonly sequence: number;
  /** In hex. */
  readonly hash: string;
}

/** The chain head of a ledger or an account without transfers. */
export const CHAIN_START: ChainHead = { sequence: 0, hash: "00".repeat(32) };

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
