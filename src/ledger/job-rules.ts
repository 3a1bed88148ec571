/**
 * Rules for the money of a job: what is asked of an upstream now and answered within hours or days, line by line. A job
 * sets aside the most that all of its lines can cost. Each line is settled from that, once, and what is left when the
 * job ends returns to the account. A reserve is a lease that no node has.
 */
import type { Book } from "./book.js";
import { renewLine } from "./credit-line.js";
import { grantExactly } from "./holding.js";
import { addLease } from "./lease-rules.js";
import type { LedgerResult, ReserveOperation } from "./operation.js";
import { judgedCounters } from "./periods.js";
import { isAmount, JOB_NODE } from "./rows.js";

/** Sets money aside for a job, once, and all of it: a job that is paid in part would end in the middle. */
export function reserve(book: Book, operation: ReserveOperation): LedgerResult {
  const { jobId, accountId, keyId, amountNanos, nowMs } = operation;
  if (!isAmount(amountNanos)) return { kind: "refused", problem: "amount_invalid" };
  const known = book.leases.get(jobId);
  const before = book.named("lease", jobId);
  if (known !== undefined || before !== undefined) {
    const isOpen = known?.nodeId === JOB_NODE && known.accountId === accountId && known.keyId === keyId;
    // One that has ended begins no second time, and none is made larger.
    const isSame = isOpen && before?.pendingNanos === amountNanos;
    return isSame ? { kind: "held", amountNanos } : { kind: "refused", problem: "id_taken" };
  }
  const account = book.accounts.get(accountId);
  if (account === undefined) return { kind: "refused", problem: "unknown_account" };
  if (account.frozen) return { kind: "account_frozen" };
  renewLine(book, account, nowMs);
  const counters = book.counters(keyId, accountId, nowMs);
  // The most that one request may cost bounds each line, which whoever asks for the job checks.
  const payer = { ...account, requestCostMaxNanos: 0n };
  const judged = judgedCounters(book, counters, operation, account);
  const grant = grantExactly(book, { ...operation, leastNanos: amountNanos }, payer, judged);
  if (typeof grant !== "bigint") return grant;
  const said = { id: jobId, nodeId: JOB_NODE, accountId, keyId, createTimeMs: nowMs, counters, restNanos: grant };
  book.addNamed(addLease(book, said));
  return { kind: "held", amountNanos: grant };
}
