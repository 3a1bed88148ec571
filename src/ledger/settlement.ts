/** How a hold ends: charged once, or freed. The rest of a hold returns to its account, whatever happens. */
import { type Book, TOTAL_NANOS_MAX } from "./book.js";
import type { LedgerResult, SettleOperation } from "./operation.js";
import { type HoldRow, OPERATOR_OVERAGE, OPERATOR_REVENUE, SOURCE_NONE, available, bucketOf } from "./rows.js";

type Charge = Pick<SettleOperation, "usage" | "usageSource" | "costNanos" | "upstream" | "attempts" | "nowMs">;

/** Settles a request, exactly once. */
export function settle(book: Book, operation: SettleOperation): LedgerResult {
  const hold = book.holds.get(operation.requestId);
  if (hold === undefined) return { kind: "refused", problem: "unknown_request" };
  const charged = operation.usageSource !== SOURCE_NONE;
  if (hold.state === "held") {
    if (charged) charge(book, hold, operation);
    else free(book, hold, "void", operation);
    return settled(hold, false);
  }
  if (!charged || !isFreed(hold)) return settled(hold, true);
  charge(book, hold, operation);
  return settled(hold, false);
}

/** True where recovery freed the hold without charging anything, so that the request itself may still come to pay. */
function isFreed(hold: HoldRow): boolean {
  return hold.recovered && hold.state !== "settled";
}

function settled(hold: HoldRow, repeated: boolean): LedgerResult {
  return { kind: "settled", chargedNanos: hold.chargedNanos, overageNanos: hold.overageNanos, repeated };
}

/** Charges a hold, or where it was freed before, the account itself: never more than was held, never below zero. */
export function charge(book: Book, hold: HoldRow, operation: Charge): void {
  const heldNanos = hold.state === "held" ? hold.amountNanos : 0n;
  const account = book.account(hold.accountId);
  const chargedNanos = least(operation.costNanos, hold.amountNanos, available(account) + heldNanos);
  const overageNanos = least(operation.costNanos - chargedNanos, overageRoom(book));
  book.transfer(hold.requestId, {
    kind: "settle",
    debitAccount: hold.accountId,
    creditAccount: OPERATOR_REVENUE,
    accountId: hold.accountId,
    pendingNanos: -heldNanos,
    postedNanos: chargedNanos,
    requestId: hold.requestId,
    createTimeMs: operation.nowMs,
  });
  if (overageNanos > 0n) {
    book.transfer(hold.requestId, {
      kind: "overage",
      debitAccount: OPERATOR_OVERAGE,
      creditAccount: OPERATOR_REVENUE,
      accountId: hold.accountId,
      pendingNanos: 0n,
      postedNanos: overageNanos,
      requestId: hold.requestId,
      createTimeMs: operation.nowMs,
    });
  }
  book.count(hold, -heldNanos, chargedNanos);
  hold.state = "settled";
  hold.chargedNanos = chargedNanos;
  hold.overageNanos = overageNanos;
  record(book, hold, operation);
}

/** Frees a hold whose request was not charged, and keeps a record of it. */
function free(book: Book, hold: HoldRow, kind: "void" | "expire", operation: Charge): void {
  release(book, hold, kind, operation.nowMs);
  record(book, hold, operation);
}

/** Gives a hold back to its account. */
export function release(book: Book, hold: HoldRow, kind: "void" | "expire", nowMs: number): void {
  book.transfer(hold.requestId, {
    kind,
    debitAccount: hold.accountId,
    creditAccount: OPERATOR_REVENUE,
    accountId: hold.accountId,
    pendingNanos: -hold.amountNanos,
    postedNanos: 0n,
    requestId: hold.requestId,
    createTimeMs: nowMs,
  });
  book.count(hold, -hold.amountNanos, 0n);
  hold.state = kind === "void" ? "voided" : "expired";
  hold.endTimeMs = nowMs;
  book.markHold(hold);
}

function record(book: Book, hold: HoldRow, operation: Charge): void {
  const { usage, usageSource, upstream, attempts, nowMs } = operation;
  const costNanos = hold.chargedNanos + hold.overageNanos;
  Object.assign(hold, { usage, costNanos, upstream, attempts, endTimeMs: nowMs });
  book.markHold(hold);
  book.usages.push({
    requestId: hold.requestId,
    accountId: hold.accountId,
    keyId: hold.keyId,
    model: hold.model,
    day: bucketOf("day", hold.createTimeMs),
    upstream,
    attempts,
    usage,
    usageSource,
    costNanos,
    endTimeMs: nowMs,
  });
}

/** What the operator's account still takes, so that a settlement never fails for its sake. */
function overageRoom(book: Book): bigint {
  return TOTAL_NANOS_MAX - book.account(OPERATOR_OVERAGE).debitsPosted;
}

function least(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((low, amount) => (amount < low ? amount : low));
}
