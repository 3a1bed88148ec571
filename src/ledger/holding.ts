/** How money is held for a request: exactly, from the free balance, or from a lease of the requesting node. */
import type { Book } from "./book.js";
import { renewLine } from "./credit-line.js";
import { grantOf, type GrantTerms } from "./grant.js";
import { leaseFor, recallAll, withoutLeases } from "./lease-rules.js";
import type { HoldOperation, LedgerResult, Shortage } from "./operation.js";
import { judgedCounters } from "./periods.js";
import { NO_USAGE } from "../api/usage.js";
import { type Account, type BudgetRow, type HoldRow, type MoneyLeaseRow, isAmount } from "./rows.js";
import { holdRecord } from "./hash-chain.js";
import type { TransferContent } from "./transfer.js";

/** Holds money for a request, once. */
export function hold(book: Book, operation: HoldOperation): LedgerResult {
  const { amountNanos: wantedNanos, leastNanos, accountId, leaseId } = operation;
  if (!isAmount(wantedNanos) || leastNanos < 0n || leastNanos > wantedNanos) return refused("amount_invalid");
  const known = book.holds.get(operation.requestId);
  if (known !== undefined) {
    // Only a hold that is still open may be answered again: a resolved one would let a second call run unpaid.
    return isSameHold(known, operation) ? { kind: "held", amountNanos: known.amountNanos } : refused("id_taken");
  }
  const account = book.accounts.get(accountId);
  if (account === undefined) return refused("unknown_account");
  if (leaseId !== undefined) {
    const lease = leaseFor(book, operation, leaseId);
    // The node admitted it already. What was frozen or lowered since is in force once its lease is back.
    if (lease === undefined) return refused("lease_gone");
    openHold(book, operation, lease.counters, wantedNanos, lease);
    return { kind: "held", amountNanos: wantedNanos };
  }
  if (account.frozen) return { kind: "account_frozen" };
  renewLine(book, account, operation.nowMs);
  const counters = book.counters(operation.keyId, accountId, operation.nowMs);
  const grant = grantExactly(book, operation, account, judgedCounters(book, counters, operation, account));
  if (typeof grant !== "bigint") return grant;
  openHold(book, operation, counters, grant);
  return { kind: "held", amountNanos: grant };
}

/** What of the free balance may be held, or the refusal. Leases that have what is missing are recalled. */
export function grantExactly(
  book: Book,
  terms: GrantTerms,
  account: Account,
  counters: readonly BudgetRow[],
): bigint | LedgerResult {
  const grant = grantOf(account, terms, counters);
  if (grant === terms.amountNanos) return grant;
  const leases = book.leasesOf(account.id);
  if (leases.length === 0) return grant;
  return whileLeased(book, terms, { account, grant, counters, leases }) ?? grant;
}

interface Leased {
  readonly account: Account;
  /** What is free without the leased money. */
  readonly grant: bigint | Shortage;
  readonly counters: readonly BudgetRow[];
  readonly leases: readonly MoneyLeaseRow[];
}

/**
 * No request is refused, or granted less, for money that is in leases: the leases are recalled first, and the account
 * is in shortage from then on. What would be refused even with that money is refused at once. Undefined: the grant
 * stands.
 */
function whileLeased(book: Book, terms: GrantTerms, leased: Leased): LedgerResult | undefined {
  const { account, grant, counters, leases } = leased;
  const back = withoutLeases(account, counters, leases);
  const whole = grantOf(back.account, terms, back.counters);
  if (typeof whole !== "bigint") return whole;
  // Who could be given all that there is, or is given enough while the leases are on their way, need not wait.
  if (typeof grant === "bigint" && (grant === whole || leases.every(({ recalled }) => recalled))) return undefined;
  const others = leases.filter(({ recalled }) => !recalled);
  book.setShort(book.account(account.id), true);
  const heldNanos = leases.reduce((sum, { restNanos }) => sum + restNanos, 0n);
  return { kind: "recalling", shortage: shortageOf(grant, terms, heldNanos), leases: recallAll(book, others) };
}

function shortageOf(grant: bigint | Shortage, { leastNanos }: GrantTerms, heldNanos: bigint): Shortage {
  if (typeof grant !== "bigint") return grant;
  return { kind: "balance_too_low", availableNanos: grant, heldNanos, neededNanos: leastNanos };
}

/** Holds money for a request, from the free balance or from a lease, whose rest becomes smaller. */
export function openHold(
  book: Book,
  operation: HoldOperation,
  counters: readonly BudgetRow[],
  amountNanos: bigint,
  lease?: MoneyLeaseRow,
): HoldRow {
  const { requestId, accountId } = operation;
  const row: HoldRow = {
    sequence: book.nextSequence,
    counters,
    requestId,
    accountId,
    keyId: operation.keyId,
    model: operation.model,
    nodeId: operation.nodeId,
    leaseId: lease?.id ?? "",
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
  // What was leased is counted already, and stays pending: only its name changes.
  if (lease === undefined) book.count(row, amountNanos, 0n);
  else book.drawLease(lease, amountNanos);
  const content: TransferContent = {
    kind: "hold",
    accountId,
    causeId: requestId,
    isLeased: lease !== undefined,
    holdSequence: row.sequence,
    pendingNanos: amountNanos,
    postedNanos: 0n,
    createTimeMs: operation.nowMs,
  };
  book.transfer(content, holdRecord(row));
  return row;
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

function refused(problem: (LedgerResult & { kind: "refused" })["problem"]): LedgerResult {
  return { kind: "refused", problem };
}
