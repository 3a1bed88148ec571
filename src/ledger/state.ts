/**
 * The ledger's state machine: given the rows of a book and an operation, what happens. Pure; a driver brings the rows.
 */
import { AMOUNT_NANOS_MAX } from "../money.js";
import type { Usage } from "../api/index.js";
import { type Book, TOTAL_NANOS_MAX } from "./book.js";
import type {
  BeatOperation,
  CheckpointOperation,
  CreditOperation,
  HoldOperation,
  LedgerOperation,
  LedgerResult,
} from "./operation.js";
import { NO_USAGE } from "../api/usage.js";
import { OPERATOR_GRANTS, OPERATOR_REVENUE, USAGE_FIELDS, available, tokenCount } from "./rows.js";
import type { HoldRow } from "./rows.js";
import { recover } from "./recovery.js";
import { settle } from "./settlement.js";

/** The most tokens that one field of a usage may say. More is no count. */
export const TOKENS_MAX = 1_000_000_000_000n;

/** Decides one operation and changes the book by it. Throws only where the ledger itself is broken. */
export function decide(book: Book, operation: LedgerOperation): LedgerResult {
  switch (operation.kind) {
    case "hold":
      return hold(book, operation);
    case "checkpoint":
      return checkpoint(book, operation);
    case "settle":
      return isCharge(operation) ? settle(book, operation) : refused("amount_invalid");
    case "credit":
      return credit(book, operation);
    case "beat":
      return beat(book, operation);
    case "recover":
      return recover(book, operation);
    default:
      return operation satisfies never;
  }
}

function hold(book: Book, operation: HoldOperation): LedgerResult {
  const { amountNanos: wantedNanos, leastNanos } = operation;
  if (!isAmount(wantedNanos) || leastNanos < 0n || leastNanos > wantedNanos) return refused("amount_invalid");
  const known = book.holds.get(operation.requestId);
  if (known !== undefined) {
    // Only a hold that is still open may be answered again: a resolved one would let a second call run unpaid.
    return isSameHold(known, operation) ? { kind: "held", amountNanos: known.amountNanos } : refused("id_taken");
  }
  const account = book.customer(operation.accountId);
  if (account === undefined) return refused("unknown_account");
  const availableNanos = available(account);
  if (availableNanos < leastNanos) return { kind: "balance_too_low", availableNanos, neededNanos: leastNanos };
  let amountNanos = availableNanos < wantedNanos ? availableNanos : wantedNanos;
  for (const { period, limitNanos } of operation.budgets) {
    const { pendingNanos, spentNanos } = book.budget(operation.keyId, period, operation.nowMs);
    const freeNanos = limitNanos - pendingNanos - spentNanos;
    const remainingNanos = freeNanos > 0n ? freeNanos : 0n;
    if (remainingNanos < leastNanos)
      return { kind: "budget_exceeded", period, limitNanos, remainingNanos, neededNanos: leastNanos };
    if (remainingNanos < amountNanos) amountNanos = remainingNanos;
  }
  openHold(book, operation, amountNanos);
  return { kind: "held", amountNanos };
}

function openHold(book: Book, operation: HoldOperation, amountNanos: bigint): void {
  const row: HoldRow = {
    requestId: operation.requestId,
    accountId: operation.accountId,
    keyId: operation.keyId,
    model: operation.model,
    nodeId: operation.nodeId,
    wantedNanos: operation.amountNanos,
    amountNanos,
    price: operation.price,
    createTimeMs: operation.nowMs,
    expireTimeMs: operation.expireTimeMs,
    state: "held",
    recovered: false,
    endTimeMs: null,
    chargedNanos: 0n,
    overageNanos: 0n,
    usage: NO_USAGE,
    costNanos: 0n,
    upstream: "",
    attempts: 0,
  };
  book.addHold(row);
  book.count(row, amountNanos, 0n);
  book.transfer(operation.requestId, {
    kind: "hold",
    debitAccount: operation.accountId,
    creditAccount: OPERATOR_REVENUE,
    accountId: operation.accountId,
    pendingNanos: amountNanos,
    postedNanos: 0n,
    requestId: operation.requestId,
    createTimeMs: operation.nowMs,
  });
}

function isSameHold(known: HoldRow, operation: HoldOperation): boolean {
  return (
    known.state === "held" &&
    known.accountId === operation.accountId &&
    known.keyId === operation.keyId &&
    known.model === operation.model &&
    known.nodeId === operation.nodeId &&
    known.wantedNanos === operation.amountNanos &&
    known.amountNanos >= operation.leastNanos &&
    Buffer.compare(known.price, operation.price) === 0
  );
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
  row.upstream = operation.upstream;
  row.attempts = operation.attempts;
  book.markHold(row);
  return { kind: "noted" };
}

function credit(book: Book, operation: CreditOperation): LedgerResult {
  const { creditId, accountId, amountNanos } = operation;
  const account = book.customer(accountId);
  if (account === undefined) return refused("unknown_account");
  const known = book.credits.get(creditId);
  if (known !== undefined) {
    const same = known.accountId === accountId && known.postedNanos === amountNanos;
    return same ? { kind: "credited", availableNanos: available(account), repeated: true } : refused("id_taken");
  }
  const grantedNanos = book.account(OPERATOR_GRANTS).debitsPosted;
  if (!isAmount(amountNanos) || grantedNanos + amountNanos > TOTAL_NANOS_MAX) return refused("amount_invalid");
  const transfer = book.transfer(creditId, {
    kind: "credit",
    debitAccount: OPERATOR_GRANTS,
    creditAccount: accountId,
    accountId,
    pendingNanos: 0n,
    postedNanos: amountNanos,
    requestId: "",
    createTimeMs: operation.nowMs,
  });
  book.credits.set(creditId, transfer);
  return { kind: "credited", availableNanos: available(account), repeated: false };
}

function beat(book: Book, operation: BeatOperation): LedgerResult {
  book.leases.set(operation.nodeId, operation.leaseUntilMs);
  book.changedLeases.set(operation.nodeId, operation.leaseUntilMs);
  return { kind: "noted" };
}

function isAmount(nanos: bigint): boolean {
  return nanos >= 0n && nanos <= AMOUNT_NANOS_MAX;
}

function isCharge(charge: { readonly usage: Usage; readonly costNanos: bigint }): boolean {
  if (!isAmount(charge.costNanos)) return false;
  return USAGE_FIELDS.every((field) => charge.usage[field] >= 0n && charge.usage[field] <= TOKENS_MAX);
}

function refused(problem: (LedgerResult & { kind: "refused" })["problem"]): LedgerResult {
  return { kind: "refused", problem };
}
