/**
 * The ledger's state machine: given the rows of a book and an operation, what happens. Pure; a driver brings the rows.
 */
import assert from "node:assert";
import { AMOUNT_NANOS_MAX } from "../money.js";
import type { Book } from "./book.js";
import {
  type BeatOperation,
  type CheckpointOperation,
  type CreditOperation,
  type HoldOperation,
  isHeldByOthers,
  type LedgerOperation,
  type LedgerResult,
  type NodeBeats,
  type SettleOperation,
  type Shortage,
} from "./operation.js";
import { NO_USAGE } from "../api/usage.js";
import { available } from "./rows.js";
import type { Account, BudgetOwner, BudgetRow, HoldRow, Period } from "./rows.js";
import { debit, refund } from "./correcting.js";
import { recover } from "./recovery.js";
import { settle } from "./settlement.js";
import { type TransferContent, holdRecord, noteRecord } from "./transfer.js";
import { isUsage, tokenCount } from "./usage.js";

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

function hold(book: Book, operation: HoldOperation): LedgerResult {
  const { amountNanos: wantedNanos, leastNanos } = operation;
  if (!isAmount(wantedNanos) || leastNanos < 0n || leastNanos > wantedNanos) return refused("amount_invalid");
  const known = book.holds.get(operation.requestId);
  if (known !== undefined) {
    // Only a hold that is still open may be answered again: a resolved one would let a second call run unpaid.
    return isSameHold(known, operation) ? { kind: "held", amountNanos: known.amountNanos } : refused("id_taken");
  }
  const account = book.accounts.get(operation.accountId);
  if (account === undefined) return refused("unknown_account");
  if (account.frozen) return { kind: "account_frozen" };
  const counters = book.counters(operation.keyId, operation.accountId, operation.nowMs);
  const grant = grantOf(account, operation, counters);
  if (typeof grant !== "bigint") return grant;
  openHold(book, operation, counters, grant);
  return { kind: "held", amountNanos: grant };
}

/**
 * What the balance and the budgets leave of an amount, or what leaves too little: first of all what running calls alone
 * would not mend by ending, else the first that they would.
 */
function grantOf(account: Account, operation: HoldOperation, counters: readonly BudgetRow[]): bigint | Shortage {
  const { leastNanos: neededNanos, amountNanos: wantedNanos, budgets } = operation;
  const availableNanos = available(account);
  let amountNanos = least(wantedNanos, availableNanos);
  let passing: Shortage | undefined;
  if (availableNanos < neededNanos) {
    const heldNanos = account.debitsPending;
    passing = { kind: "balance_too_low", availableNanos, heldNanos, neededNanos };
    if (!isHeldByOthers(passing)) return passing;
  }
  const mostNanos = account.requestCostMaxNanos;
  for (const { period, limitNanos, makerId } of budgets) {
    const used = counterOf(counters, "key", makerId ?? operation.keyId, period);
    const remainingNanos = left(limitNanos, used);
    if (remainingNanos < neededNanos) {
      const short = budgetShortage("key", period, limitNanos, used, neededNanos);
      const shortage = makerId === undefined ? short : { ...short, makerId };
      if (!isHeldByOthers(shortage)) return shortage;
      passing ??= shortage;
    }
    amountNanos = least(amountNanos, remainingNanos);
  }
  if (mostNanos > 0n && mostNanos < neededNanos)
    return budgetShortage("account", "request", mostNanos, { pendingNanos: 0n, spentNanos: 0n }, neededNanos);
  if (mostNanos > 0n) amountNanos = least(amountNanos, mostNanos);
  for (const { period, limitNanos } of account.budgets) {
    const total = { pendingNanos: account.debitsPending, spentNanos: account.debitsPosted - account.debitedNanos };
    const used = period === "total" ? total : counterOf(counters, "account", account.id, period);
    const remainingNanos = left(limitNanos, used);
    if (remainingNanos < neededNanos) {
      const shortage = budgetShortage("account", period, limitNanos, used, neededNanos);
      if (!isHeldByOthers(shortage)) return shortage;
      passing ??= shortage;
    }
    amountNanos = least(amountNanos, remainingNanos);
  }
  return passing ?? amountNanos;
}

function budgetShortage(
  owner: BudgetOwner,
  period: Period | "request",
  limitNanos: bigint,
  used: Used,
  neededNanos: bigint,
): Shortage {
  const remainingNanos = left(limitNanos, used);
  const heldNanos = left(limitNanos, { pendingNanos: 0n, spentNanos: used.spentNanos }) - remainingNanos;
  return { kind: "budget_exceeded", owner, period, limitNanos, remainingNanos, heldNanos, neededNanos };
}

type Used = Pick<BudgetRow, "pendingNanos" | "spentNanos">;

function counterOf(counters: readonly BudgetRow[], owner: BudgetOwner, id: string, period: Period): Used {
  const row = counters.find(
    (counter) => counter.ownerId === id && counter.period === period && counter.owner === owner,
  );
  assert(row !== undefined, `the counter of the ${owner} ${id} for its ${period} was not loaded`);
  return row;
}

function left(limitNanos: bigint, { pendingNanos, spentNanos }: Used): bigint {
  const freeNanos = limitNanos - pendingNanos - spentNanos;
  return freeNanos > 0n ? freeNanos : 0n;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function openHold(book: Book, operation: HoldOperation, counters: readonly BudgetRow[], amountNanos: bigint): void {
  const { requestId, accountId } = operation;
  const row: HoldRow = {
    sequence: book.nextSequence,
    counters,
    requestId,
    accountId,
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
    noted: false,
    endTimeMs: null,
    chargedNanos: 0n,
    overageNanos: 0n,
    refundedNanos: 0n,
    usage: NO_USAGE,
    costNanos: 0n,
    operatorCostNanos: undefined,
    upstream: "",
    attempts: 0,
    chained: undefined,
    older: undefined,
    newer: undefined,
    changed: false,
  };
  book.addHold(row);
  book.count(row, amountNanos, 0n);
  const content: TransferContent = {
    kind: "hold",
    accountId,
    causeId: requestId,
    holdSequence: row.sequence,
    pendingNanos: amountNanos,
    postedNanos: 0n,
    createTimeMs: operation.nowMs,
  };
  book.transfer(content, holdRecord(row));
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
  const known = book.credits.get(creditId);
  if (known !== undefined) {
    const same = known.accountId === accountId && known.postedNanos === amountNanos;
    return same ? { kind: "credited", availableNanos: available(account), repeated: true } : refused("id_taken");
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
  return { kind: "credited", availableNanos: available(account), repeated: false };
}

function beat(book: Book, operation: BeatOperation): LedgerResult {
  const { nodeId, isLast } = operation;
  book.setBeats(nodeId, isLast ? undefined : (book.beats.get(nodeId) ?? 0) + 1);
  const others: NodeBeats[] = [];
  for (const [other, beats] of book.beats) if (other !== nodeId) others.push({ nodeId: other, beats });
  return { kind: "beaten", others };
}

function isAmount(nanos: bigint): boolean {
  return nanos >= 0n && nanos <= AMOUNT_NANOS_MAX;
}

function isCharge({ usage, costNanos, operatorCostNanos }: SettleOperation | CheckpointOperation): boolean {
  return isAmount(costNanos) && isAmount(operatorCostNanos ?? 0n) && isUsage(usage);
}

function refused(problem: (LedgerResult & { kind: "refused" })["problem"]): LedgerResult {
  return { kind: "refused", problem };
}
