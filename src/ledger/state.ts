/** The ledger's state machine: from the rows of a book and an operation to a result. Pure; a driver loads the rows. */
import type { Book } from "./book.js";
import {
  type BeatOperation,
  type CheckpointOperation,
  type CreditOperation,
  type LedgerOperation,
  type LedgerResult,
  type NodeBeats,
  type SettleOperation,
} from "./operation.js";
import { isAmount } from "./rows.js";
import { debit, refund } from "./correcting.js";
import { renew } from "./credit-line.js";
import { hold } from "./holding.js";
import { reserve } from "./job-rules.js";
import { endLeasesOf, lease, recall, returnLease } from "./lease-rules.js";
import { recover } from "./recovery.js";
import { settle } from "./settlement.js";
import { noteRecord } from "./hash-chain.js";
import type { TransferContent } from "./transfer.js";
import { isUsage, tokenCount } from "./usage.js";

export { endNodeLeases } from "./lease-rules.js";
export { judgedCounters } from "./periods.js";

/** Decides one operation and changes the book. Throws only if the ledger itself is broken. */
export function decide(book: Book, operation: LedgerOperation): LedgerResult {
  switch (operation.kind) {
    case "hold":
      return hold(book, operation);
    case "lease":
      return lease(book, operation);
    case "reserve":
      return reserve(book, operation);
    case "return":
      return { kind: "returned", amountNanos: returnLease(book, operation.leaseId, operation.nowMs) };
    case "recall":
      return recall(book, operation);
    case "checkpoint":
      return checkpoint(book, operation);
    case "settle":
      return isCharge(operation) ? settle(book, operation) : refused("amount_invalid");
    case "credit":
      return credit(book, operation);
    case "renew":
      return renew(book, operation);
    case "refund":
      return refund(book, operation);
    case "debit":
      return debit(book, operation);
    case "beat":
      return beat(book, operation);
    case "recover":
      return recover(book, operation);
    default:
      return operation satisfies never;
  }
}

/**
 * True if a settlement or a refund may belong to an archived request: neither the book, with everything that the batch
 * loads, nor the batch itself has its hold. The driver must then load what is archived.
 */
export function mayBeArchived(book: Book, operations: readonly LedgerOperation[]): boolean {
  let held: Set<string> | undefined;
  for (const operation of operations) {
    if (operation.kind !== "refund" && (operation.kind !== "settle" || operation.terms === undefined)) continue;
    if (book.holds.get(operation.requestId) !== undefined) continue;
    held ??= new Set(operations.flatMap((one) => (one.kind === "hold" ? [one.requestId] : [])));
    if (!held.has(operation.requestId)) return true;
  }
  return false;
}

function checkpoint(book: Book, operation: CheckpointOperation): LedgerResult {
  const row = book.holds.get(operation.requestId);
  if (row === undefined) return refused("unknown_request");
  if (!isCharge(operation)) return refused("amount_invalid");
  // Checkpoints may overtake each other; what was delivered never becomes less.
  const older = operation.costNanos < row.costNanos || tokenCount(operation.usage) < tokenCount(row.usage);
  if (row.state !== "held" || older) return { kind: "noted" };
  row.usage = operation.usage;
  row.costNanos = operation.costNanos;
  row.operatorCostNanos = operation.operatorCostNanos;
  row.upstream = operation.upstream;
  row.attempts = operation.attempts;
  row.noted = true;
  book.notedHolds.add(row);
  return { kind: "noted" };
}

function credit(book: Book, operation: CreditOperation): LedgerResult {
  const { creditId, accountId, amountNanos, note } = operation;
  const account = book.accounts.get(accountId);
  if (account === undefined) return refused("unknown_account");
  const before = { availableNanos: book.toldAvailable(account) };
  const known = book.credits.get(creditId);
  if (known !== undefined) {
    const same = known.accountId === accountId && known.postedNanos === amountNanos;
    return same
      ? { kind: "credited", availableNanos: book.toldAvailable(account), repeated: true }
      : refused("id_taken");
  }
  if (!isAmount(amountNanos) || amountNanos > book.roomFor("granted")) return refused("amount_invalid");
  const content: TransferContent = {
    kind: "credit",
    accountId,
    causeId: creditId,
    holdSequence: 0,
    pendingNanos: 0n,
    postedNanos: amountNanos,
    createTimeMs: operation.nowMs,
  };
  const transfer = book.transfer(content, note === undefined ? "" : noteRecord(note));
  if (note !== undefined) book.addNote(transfer, note);
  book.credits.set(creditId, transfer);
  const after = { availableNanos: book.toldAvailable(account), amountNanos, reason: note?.reason };
  book.record(operation.act, transfer, { resource: `accounts/${accountId}`, before, after });
  return { kind: "credited", availableNanos: book.toldAvailable(account), repeated: false };
}

function beat(book: Book, operation: BeatOperation): LedgerResult {
  const { nodeId, isLast, isFirst } = operation;
  // Others took it for dead and ended its leases: under this id it is never alive again, whatever is still on its way.
  if (isFirst === false && !book.beats.has(nodeId)) return { kind: "gone" };
  if (isLast) endLeasesOf(book, nodeId, operation.nowMs);
  book.setBeats(nodeId, isLast ? undefined : (book.beats.get(nodeId) ?? 0) + 1);
  const others: NodeBeats[] = [];
  for (const [other, beats] of book.beats) if (other !== nodeId) others.push({ nodeId: other, beats });
  return { kind: "beaten", others };
}

function isCharge({ usage, costNanos, operatorCostNanos }: SettleOperation | CheckpointOperation): boolean {
  return isAmount(costNanos) && isAmount(operatorCostNanos ?? 0n) && isUsage(usage);
}

function refused(problem: (LedgerResult & { kind: "refused" })["problem"]): LedgerResult {
  return { kind: "refused", problem };
}
