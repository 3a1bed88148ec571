/** Payments by card, as their table has them. */
import { lesser } from "../base/money.js";

/** How a payment stands where nothing was paid: the payer is done and the money is on its way, or it never comes. */
export type PaymentEnding = "pending" | "failed" | "expired";

/** A payment as it is begun. */
export interface PaymentStart {
  readonly id: string;
  /** Who is credited. Empty where nobody knows: then an operator must. */
  readonly accountId: string;
  /** The Checkout Session. Unique. */
  readonly sessionId: string;
  readonly amountNanos: bigint;
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
}

/**
 * A payment with what is known of it. What was paid, refunded and disputed are facts, in whatever order they came;
 * what is credited, taken and receivable was booked by them.
 */
export interface PaymentRow extends PaymentStart {
  readonly ending: PaymentEnding | null;
  readonly paidNanos: bigint;
  readonly payTimeMs: number | null;
  readonly creditedNanos: bigint;
  /** What refunds and disputes took back of it, from the account or as the operator's to receive. */
  readonly takenNanos: bigint;
  readonly receivableNanos: bigint;
  readonly refundedNanos: bigint;
  /** What banks took back and did not return. */
  readonly disputedNanos: bigint;
  /** Since when something may be left to book; null where nothing is. */
  readonly dueTimeMs: number | null;
  readonly problem: string;
}

/** One booking of a payment: its credit, what is taken back, or what of that is returned. Its id makes one transfer. */
export interface BookingRow {
  readonly paymentId: string;
  readonly accountId: string;
  /** From 1, and each is done before the next one is made. */
  readonly number: number;
  readonly kind: "credit" | "take" | "return";
  readonly transferId: string;
  readonly amountNanos: bigint;
  /** What of it moves no money of the account, but what the operator is to receive; of a `take` known once done. */
  readonly receivableNanos: bigint;
}

export interface PaymentColumns {
  readonly id: string;
  readonly account_id: string;
  readonly session_id: string;
  readonly amount_nanos: bigint;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
  readonly ending: PaymentEnding | null;
  readonly paid_nanos: bigint;
  readonly pay_time_ms: bigint | null;
  readonly credited_nanos: bigint;
  readonly taken_nanos: bigint;
  readonly receivable_nanos: bigint;
  readonly refunded_nanos: bigint;
  readonly disputed_nanos: bigint;
  readonly due_time_ms: bigint | null;
  readonly problem: string;
}

export interface BookingColumns {
  readonly payment_id: string;
  readonly account_id: string;
  readonly number: bigint;
  readonly kind: BookingRow["kind"];
  readonly transfer_id: string;
  readonly amount_nanos: bigint;
  readonly receivable_nanos: bigint;
}

export function toPayment(found: PaymentColumns): PaymentRow {
  return {
    id: found.id,
    accountId: found.account_id,
    sessionId: found.session_id,
    amountNanos: found.amount_nanos,
    createTimeMs: Number(found.create_time_ms),
    expireTimeMs: Number(found.expire_time_ms),
    ending: found.ending,
    paidNanos: found.paid_nanos,
    payTimeMs: timeOf(found.pay_time_ms),
    creditedNanos: found.credited_nanos,
    takenNanos: found.taken_nanos,
    receivableNanos: found.receivable_nanos,
    refundedNanos: found.refunded_nanos,
    disputedNanos: found.disputed_nanos,
    dueTimeMs: timeOf(found.due_time_ms),
    problem: found.problem,
  };
}

export function toBooking(found: BookingColumns): BookingRow {
  return {
    paymentId: found.payment_id,
    accountId: found.account_id,
    number: Number(found.number),
    kind: found.kind,
    transferId: found.transfer_id,
    amountNanos: found.amount_nanos,
    receivableNanos: found.receivable_nanos,
  };
}

function timeOf(value: bigint | null): number | null {
  return value === null ? null : Number(value);
}

type Sums = Pick<PaymentRow, "paidNanos" | "creditedNanos" | "takenNanos" | "receivableNanos"> &
  Pick<PaymentRow, "refundedNanos" | "disputedNanos">;

/**
 * What is to be booked next, given all that is known; undefined where nothing is. It looks at sums alone, so that the
 * order in which facts came is of no consequence. A payment takes no more back than it gave.
 */
export function nextBooking(sums: Sums): Pick<BookingRow, "kind" | "amountNanos" | "receivableNanos"> | undefined {
  const { paidNanos, creditedNanos, takenNanos, receivableNanos } = sums;
  if (creditedNanos < paidNanos) return { kind: "credit", amountNanos: paidNanos - creditedNanos, receivableNanos: 0n };
  const lostNanos = lesser(paidNanos, sums.refundedNanos + sums.disputedNanos);
  if (lostNanos > takenNanos) return { kind: "take", amountNanos: lostNanos - takenNanos, receivableNanos: 0n };
  if (lostNanos === takenNanos) return undefined;
  const amountNanos = takenNanos - lostNanos;
  // What the account did not have to give does not come back to it: the operator received it after all.
  return { kind: "return", amountNanos, receivableNanos: lesser(amountNanos, receivableNanos) };
}
