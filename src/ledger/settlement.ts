/** How a hold ends: charged once, or released. The rest of a hold always returns to its account. */
import type { Book } from "./book.js";
import { freeOf } from "./grant.js";
import { judgedCounters } from "./periods.js";
import { openHold } from "./holding.js";
import type { HoldOperation, LateTerms, LedgerResult, SettleOperation } from "./operation.js";
import { type HoldRow, JOB_NODE, SOURCE_NONE, type UsageRow, available } from "./rows.js";
import { usageRecord } from "./hash-chain.js";
import type { TransferContent } from "./transfer.js";
import { lesser } from "../base/money.js";

type Charge = Omit<SettleOperation, "kind" | "requestId" | "attemptLog" | "terms"> & Pick<UsageRow, "attemptLog">;

/** Settles a request, exactly once. */
export function settle(book: Book, operation: SettleOperation): LedgerResult {
  const hold = book.holds.get(operation.requestId);
  if (hold === undefined) return settleLate(book, operation);
  if (hold.state === "held") return settleHeld(book, hold, operation);
  if (operation.usageSource === SOURCE_NONE || !isFreed(hold)) return settled(hold, true);
  charge(book, hold, operation);
  return settled(hold, false);
}

/**
 * Settles a request that its node admitted against a lease, and whose hold was lost. Writes both now, from the free
 * balance: at most what the hold would have been and what budgets leave. The operator pays the rest.
 */
function settleLate(book: Book, operation: SettleOperation): LedgerResult {
  const { terms, costNanos } = operation;
  const account = terms && book.accounts.get(terms.accountId);
  if (terms === undefined || account === undefined) return { kind: "refused", problem: "unknown_request" };
  if (terms.jobId !== undefined) return settleLine(book, operation, terms, terms.jobId);
  // Its hold may have been charged and archived since, and must not be charged twice.
  if (terms.createTimeMs < book.archivedUntilMs) return { kind: "refused", problem: "unknown_request" };
  const counters = book.counters(terms.keyId, terms.accountId, terms.createTimeMs);
  const judged = judgedCounters(book, counters, { ...terms, nowMs: terms.createTimeMs }, account);
  const freeNanos = freeOf(account, terms, judged);
  const isFree = operation.usageSource === SOURCE_NONE;
  const amountNanos = isFree ? 0n : lesser(lesser(costNanos, terms.amountNanos), freeNanos);
  const hold = openHold(book, holdBy(operation, terms), counters, amountNanos);
  return settleHeld(book, hold, operation, amountNanos);
}

/**
 * Settles a line of a job from the job's reserve: hold and charge come together, so that no line is ever open. What it
 * cost above its bound is charged as of any request. A line comes before its job ends, and no archive takes what
 * belongs to a job that is open: so a line that is not there was never charged.
 */
function settleLine(book: Book, operation: SettleOperation, terms: LateTerms, jobId: string): LedgerResult {
  const job = book.leases.get(jobId);
  if (job?.nodeId !== JOB_NODE || job.accountId !== terms.accountId || job.keyId !== terms.keyId)
    return { kind: "refused", problem: "lease_gone" };
  // It counts in the budgets under which the job was admitted.
  const said = holdBy(operation, { ...terms, nodeId: JOB_NODE, createTimeMs: job.createTimeMs });
  const hold = openHold(book, said, job.counters, lesser(terms.amountNanos, job.restNanos), job);
  return settleHeld(book, hold, operation);
}

/** Ends an open hold: charged, at most `mostNanos` where there is such a bound, or freed. */
function settleHeld(book: Book, hold: HoldRow, operation: SettleOperation, mostNanos?: bigint): LedgerResult {
  if (operation.usageSource === SOURCE_NONE) free(book, hold, operation);
  else charge(book, hold, operation, mostNanos);
  return settled(hold, false);
}

/** The hold that a settlement brings with it. */
function holdBy({ requestId }: SettleOperation, terms: LateTerms): HoldOperation {
  const { accountId, keyId, model, nodeId, price, createTimeMs: nowMs, expireTimeMs, amountNanos, budgets } = terms;
  const said = { requestId, accountId, keyId, model, nodeId, price, budgets, amountNanos, expireTimeMs, nowMs };
  return { ...said, kind: "hold", leastNanos: 0n };
}

/** True if recovery released the hold without a charge, so that the request itself may still be charged. */
function isFreed(hold: HoldRow): boolean {
  return hold.recovered && hold.state !== "settled";
}

function settled(hold: HoldRow, repeated: boolean): LedgerResult {
  return { kind: "settled", chargedNanos: hold.chargedNanos, overageNanos: hold.overageNanos, repeated };
}

/**
 * Charges the hold, then what else the account has available, never below zero; the operator pays the rest. Holds of
 * other requests are not touched. A budget counts all of it, and refuses the next request once it is spent. `mostNanos`
 * bounds what the account pays.
 */
export function charge(book: Book, hold: HoldRow, operation: Charge, mostNanos?: bigint): void {
  const held = hold.state === "held";
  const heldNanos = held ? hold.amountNanos : 0n;
  const account = book.account(hold.accountId);
  const chargedNanos = lesser(operation.costNanos, mostNanos ?? available(account) + heldNanos);
  // No more than the operator's total still takes, so that a settlement never fails for its sake.
  const overageNanos = lesser(operation.costNanos - chargedNanos, book.roomFor("overage"));
  if (held) book.closedHolds.push(hold);
  end(book, hold, operation, { kind: "settle", pendingNanos: -heldNanos, chargedNanos, overageNanos });
  if (overageNanos > 0n) {
    const said = { kind: "overage", pendingNanos: 0n, postedNanos: overageNanos } as const;
    book.transfer({ ...said, ...causeOf(hold), createTimeMs: operation.nowMs }, "");
  }
  book.count(hold, -heldNanos, chargedNanos);
}

/** Releases the hold of a request that was not charged, and stores its usage record. */
function free(book: Book, hold: HoldRow, operation: Charge): void {
  book.closedHolds.push(hold);
  end(book, hold, operation, { kind: "void", pendingNanos: -hold.amountNanos, chargedNanos: 0n, overageNanos: 0n });
  book.count(hold, -hold.amountNanos, 0n);
}

/** Returns the hold of a request that no process will settle to its account. */
export function release(book: Book, hold: HoldRow, kind: "void" | "expire", nowMs: number): void {
  book.closedHolds.push(hold);
  const said = { kind, pendingNanos: -hold.amountNanos, postedNanos: 0n, createTimeMs: nowMs };
  const { sequence } = book.transfer({ ...said, ...causeOf(hold) }, "");
  book.count(hold, -hold.amountNanos, 0n);
  hold.state = kind === "void" ? "voided" : "expired";
  hold.endTimeMs = nowMs;
  book.releases.push({ hold, sequence, kind, endTimeMs: nowMs });
}

interface End {
  readonly kind: "settle" | "void";
  readonly pendingNanos: bigint;
  readonly chargedNanos: bigint;
  readonly overageNanos: bigint;
}

/** Ends a request with a transfer and with its usage record, which the transfer's hash covers. */
function end(book: Book, hold: HoldRow, operation: Charge, ending: End): void {
  const { kind, pendingNanos, chargedNanos, overageNanos } = ending;
  const { usage, usageSource, operatorCostNanos, upstream, attempts, attemptLog, nowMs } = operation;
  const row: UsageRow = {
    hold,
    sequence: book.nextSequence,
    upstream,
    attempts,
    attemptLog,
    usage,
    usageSource,
    chargedNanos,
    overageNanos,
    operatorCostNanos,
    endTimeMs: nowMs,
  };
  const { accountId, requestId: causeId, sequence: holdSequence } = hold;
  const [postedNanos, createTimeMs] = [chargedNanos, nowMs];
  book.transfer({ kind, accountId, causeId, holdSequence, pendingNanos, postedNanos, createTimeMs }, usageRecord(row));
  hold.state = kind === "settle" ? "settled" : "voided";
  hold.chargedNanos = chargedNanos;
  hold.overageNanos = overageNanos;
  hold.costNanos = chargedNanos + overageNanos;
  hold.operatorCostNanos = operatorCostNanos;
  hold.usage = usage;
  hold.upstream = upstream;
  hold.attempts = attempts;
  hold.endTimeMs = nowMs;
  book.addUsage(row);
}

function causeOf(hold: HoldRow): Pick<TransferContent, "accountId" | "causeId" | "holdSequence"> {
  return { accountId: hold.accountId, causeId: hold.requestId, holdSequence: hold.sequence };
}
