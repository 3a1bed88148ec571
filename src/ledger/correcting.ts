/** What an operator corrects: a refund of a request, a debit of an account. Each adds transfers; none changes one. */
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import type { Book } from "./book.js";
import type { DebitOperation, LedgerResult, RefundOperation } from "./operation.js";
import { requestIdOf } from "./fallback-hold.js";
import { recallAll } from "./lease-rules.js";
import { type Account, available } from "./rows.js";
import { noteRecord } from "./hash-chain.js";
import type { Transfer, TransferContent } from "./transfer.js";

/** Refunds a request, in whole or in part, never more than its charge in total. Budgets get nothing back. */
export function refund(book: Book, operation: RefundOperation): LedgerResult {
  const { requestId, amountNanos: wantedNanos, refundId } = operation;
  const hold = book.holds.get(requestId);
  if (hold === undefined)
    return book.archivedUntilMs === 0
      ? { kind: "refused", problem: "unknown_request" }
      : { kind: "archived", untilMs: book.archivedUntilMs };
  const account = book.account(hold.accountId);
  const known = book.named("refund", refundId);
  if (known !== undefined) {
    const same = known.holdSequence === hold.sequence && (wantedNanos === 0n || wantedNanos === known.postedNanos);
    if (!same) return { kind: "refused", problem: "id_taken" };
    return {
      kind: "refunded",
      amountNanos: known.postedNanos,
      availableNanos: book.toldAvailable(account),
      repeated: true,
    };
  }
  const refundableNanos = hold.state === "settled" ? hold.chargedNanos - hold.refundedNanos : 0n;
  const amountNanos = wantedNanos === 0n ? refundableNanos : wantedNanos;
  if (amountNanos <= 0n || amountNanos > refundableNanos) return { kind: "refund_too_high", refundableNanos };
  if (book.roomFor("granted") < amountNanos) return { kind: "refused", problem: "amount_invalid" };
  const { accountId, sequence: holdSequence } = hold;
  const before = { availableNanos: book.toldAvailable(account) };
  const said = { kind: "refund", accountId, causeId: refundId, holdSequence, postedNanos: amountNanos } as const;
  const transfer = write(book, operation, said);
  const after = { availableNanos: book.toldAvailable(account), amountNanos, reason: operation.reason };
  book.record(operation.act, transfer, { resource: `requests/${requestIdOf(requestId)}`, before, after });
  hold.refundedNanos += amountNanos;
  book.addRefund(hold, amountNanos);
  return { kind: "refunded", amountNanos, availableNanos: book.toldAvailable(account), repeated: false };
}

/** Takes an amount from what an account has available; what is missing is booked as a receivable of the operator. */
export function debit(book: Book, operation: DebitOperation): LedgerResult {
  const { debitId, accountId, amountNanos } = operation;
  const account = book.accounts.get(accountId);
  if (account === undefined) return { kind: "refused", problem: "unknown_account" };
  const known = book.named("debit", debitId);
  if (known !== undefined) {
    const receivableNanos = book.named("receivable", debitId)?.postedNanos ?? 0n;
    const same = known.accountId === accountId && known.postedNanos + receivableNanos === amountNanos;
    if (!same) return { kind: "refused", problem: "id_taken" };
    const debitedNanos = known.postedNanos;
    return {
      kind: "debited",
      debitedNanos,
      receivableNanos,
      availableNanos: book.toldAvailable(account),
      repeated: true,
    };
  }
  if (amountNanos <= 0n || amountNanos > AMOUNT_NANOS_MAX) return { kind: "refused", problem: "amount_invalid" };
  const recalling = amountNanos > available(account) ? recallFor(book, account, amountNanos) : undefined;
  if (recalling !== undefined) return recalling;
  const debitedNanos = amountNanos < available(account) ? amountNanos : available(account);
  const receivableNanos = amountNanos - debitedNanos;
  if (receivableNanos > book.roomFor("receivable")) return { kind: "refused", problem: "amount_invalid" };
  const cause = { accountId, causeId: debitId, holdSequence: 0 };
  const before = { availableNanos: book.toldAvailable(account) };
  const transfer = write(book, operation, { kind: "debit", ...cause, postedNanos: debitedNanos });
  if (receivableNanos > 0n) write(book, operation, { kind: "receivable", ...cause, postedNanos: receivableNanos });
  const after = {
    availableNanos: book.toldAvailable(account),
    debitedNanos,
    receivableNanos,
    reason: operation.reason,
  };
  book.record(operation.act, transfer, { resource: `accounts/${accountId}`, before, after });
  return {
    kind: "debited",
    debitedNanos,
    receivableNanos,
    availableNanos: book.toldAvailable(account),
    repeated: false,
  };
}

/** Recalls what leases hold before anything is booked as missing. */
function recallFor(book: Book, account: Account, neededNanos: bigint): LedgerResult | undefined {
  const leases = book.leasesOf(account.id).filter(({ restNanos }) => restNanos > 0n);
  if (leases.length === 0) return undefined;
  book.setShort(account, true);
  const [availableNanos, heldNanos] = [available(account), account.debitsPending];
  const shortage = { kind: "balance_too_low", availableNanos, heldNanos, neededNanos } as const;
  return { kind: "recalling", shortage, leases: recallAll(book, leases) };
}

type Said = Omit<TransferContent, "pendingNanos" | "createTimeMs">;
type Noted = { readonly reason: string; readonly actor: string; readonly nowMs: number };

function write(book: Book, { reason, actor, nowMs }: Noted, said: Said): Transfer {
  const transfer = book.transfer({ ...said, pendingNanos: 0n, createTimeMs: nowMs }, noteRecord({ reason, actor }));
  book.addNote(transfer, { reason, actor });
  return transfer;
}
