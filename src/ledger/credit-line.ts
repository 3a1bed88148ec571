/**
 * Credit lines: the money that an operator grants an account again in each period. A period starts with exactly the
 * line's amount: the grant of the period before is filled up by what was used of it. Other credit stays as it is.
 */
import { formatUsd, lesser } from "../base/money.js";
import type { Book } from "./book.js";
import { noteRecord } from "./hash-chain.js";
import type { LedgerResult, RenewOperation } from "./operation.js";
import { startDayOf } from "./periods.js";
import { type Account, available, type LineGrant } from "./rows.js";

/** Who makes the transfers of credit lines; no key has this id. */
const ACTOR = "credit-line";
/** The ids of these transfers start with it, and those of operators do not. */
export const LINE_PREFIX = "line:";

export function renew(book: Book, { accountId, nowMs }: RenewOperation): LedgerResult {
  const account = book.accounts.get(accountId);
  if (account === undefined) return { kind: "refused", problem: "unknown_account" };
  renewLine(book, account, nowMs);
  return { kind: "renewed" };
}

/**
 * Grants an account's credit line once for each period, and adjusts the grant if the line was changed since. A period
 * that began before the newest one is never granted: clocks of nodes differ.
 */
export function renewLine(book: Book, account: Account, nowMs: number): void {
  const { creditLine: line, lineGrant: last } = account;
  if (line === undefined && last === undefined) return;
  const startDay = line === undefined ? "" : startDayOf(line.period, nowMs);
  const amountNanos = line?.amountNanos ?? 0n;
  const isNew = last === undefined || startDay > last.startDay;
  const spentNanos = spentOf(account);
  const next = isNew ? { startDay, amountNanos, spentNanos } : { ...last, amountNanos };
  const restNanos = restOf(account);
  const changeNanos = unusedOf(next, spentNanos) - restNanos;
  // What could not be taken back of a lowered line, because requests or jobs held it, is taken once it is free.
  if (!isNew && amountNanos === last.amountNanos && changeNanos >= 0n) return;
  const id = `${LINE_PREFIX}${account.id}:${next.startDay}`;
  // Within a period an operator may change the line often: the place in the chain tells the changes apart.
  const causeId = isNew ? id : `${id}:${account.chainSequence + 1}`;
  const note = { reason: reasonOf(account, next), actor: ACTOR };
  const moved = move(book, account, { causeId, changeNanos, note, nowMs });
  account.lineGrant = { ...next, usedUpNanos: spentNanos + restNanos + moved };
  book.renewedLines.add(account);
}

/** What money of the line is in the account. A debit takes other credit first. */
function restOf(account: Account): bigint {
  if (account.lineGrant === undefined) return 0n;
  const restNanos = account.lineGrant.usedUpNanos - spentOf(account);
  return restNanos > 0n ? lesser(restNanos, account.creditsPosted - account.debitsPosted) : 0n;
}

/** What of the line's amount was not spent in its period. */
function unusedOf(
  { amountNanos, spentNanos }: Pick<LineGrant, "amountNanos" | "spentNanos">,
  nowSpentNanos: bigint,
): bigint {
  const restNanos = amountNanos - (nowSpentNanos - spentNanos);
  return restNanos > 0n ? restNanos : 0n;
}

/** What requests were charged, without corrections. */
function spentOf({ debitsPosted, debitedNanos }: Account): bigint {
  return debitsPosted - debitedNanos;
}

function reasonOf({ creditLine }: Account, { amountNanos, startDay }: Omit<LineGrant, "usedUpNanos">): string {
  const line = `credit line of ${formatUsd(amountNanos)} USD`;
  return creditLine === undefined ? "the credit line was removed" : `${line}, ${creditLine.period} from ${startDay}`;
}

interface Move {
  readonly causeId: string;
  readonly changeNanos: bigint;
  readonly note: { readonly reason: string; readonly actor: string };
  readonly nowMs: number;
}

/** Returns what was moved: less where the money is held, or the ledger holds no more. */
function move(book: Book, account: Account, { causeId, changeNanos, note, nowMs }: Move): bigint {
  const isGrant = changeNanos > 0n;
  const mostNanos = isGrant ? book.roomFor("granted") : available(account);
  const postedNanos = lesser(isGrant ? changeNanos : -changeNanos, mostNanos);
  if (postedNanos === 0n) return 0n;
  const kind = isGrant ? "credit" : "debit";
  const said = { kind, accountId: account.id, causeId, holdSequence: 0, pendingNanos: 0n, postedNanos } as const;
  book.addNote(book.transfer({ ...said, createTimeMs: nowMs }, noteRecord(note)), note);
  return isGrant ? postedNanos : -postedNanos;
}
