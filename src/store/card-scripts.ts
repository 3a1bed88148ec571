/** What is asked of payments by card, each in one transaction. Facts of one payment come one after the other. */
import type { AuditEvent } from "../audit/act.js";
import {
  type BookingColumns,
  type BookingRow,
  nextBooking,
  type PaymentColumns,
  type PaymentEnding,
  type PaymentRow,
  type PaymentStart,
  toBooking,
  toPayment,
} from "./card-rows.js";
import { audit, lock, row, rows, type Script } from "./script.js";

/** An event of Stripe's; absent where Stripe was asked instead. */
export interface EventName {
  readonly id: string;
  readonly type: string;
  readonly createTimeMs: number;
}

export interface PaidFact {
  readonly intentId: string | null;
  readonly paidNanos: bigint;
  /** Why it cannot be credited though it was paid; empty where it can. */
  readonly problem: string;
}

export interface RefundFact {
  readonly id: string;
  readonly amountNanos: bigint;
  /** True where the money stayed with the operator after all. It stays so. */
  readonly isFailed: boolean;
}

export interface DisputeFact {
  readonly id: string;
  readonly amountNanos: bigint;
  /** True once the bank took it, and once it gave it back. Both stay so. */
  readonly isWithdrawn: boolean;
  readonly isReinstated: boolean;
}

/** Which payments a list shows. */
export interface PaymentFilter {
  /** Empty: all. */
  readonly accountId: string;
  readonly needsAttention: boolean;
}

export type PaymentPlace = Pick<PaymentRow, "createTimeMs" | "id">;

const SUM_OF = (table: string, condition: string): string =>
  `CAST(COALESCE((SELECT SUM(amount_nanos) FROM ${table}
    WHERE payment_id = payment.id AND ${condition}), 0) AS BIGINT)`;
const PAYMENTS = `SELECT payment.*, ${SUM_OF("payment_refund", "failed = 0")} AS refunded_nanos,
  ${SUM_OF("payment_dispute", "withdrawn = 1 AND reinstated = 0")} AS disputed_nanos FROM payment`;
const BEHIND = `(create_time_ms < ? OR (create_time_ms = ? AND id < ?))
  AND (? = 0 OR problem <> '' OR receivable_nanos > 0) ORDER BY create_time_ms DESC, id DESC LIMIT ?`;
const INSERT = `INSERT INTO payment (id, account_id, session_id, amount_nanos, create_time_ms, expire_time_ms)
  VALUES (?, ?, ?, ?, ?, ?)`;
const INSERT_UNKNOWN = `INSERT INTO payment
  (id, account_id, session_id, amount_nanos, create_time_ms, expire_time_ms, pay_time_ms, problem)
  VALUES (?, '', ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`;
const INSERT_EVENT = `INSERT INTO stripe_event (id, payment_id, type, create_time_ms) VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING RETURNING id`;
const PAID = `UPDATE payment SET paid_nanos = ?, intent_id = ?, pay_time_ms = ?, problem = ?
  WHERE id = ? AND pay_time_ms IS NULL`;
const ENDED = "UPDATE payment SET ending = ? WHERE id = ? AND (ending IS NULL OR ending = 'pending')";
const REFUNDED = `INSERT INTO payment_refund (id, payment_id, amount_nanos, failed) VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    failed = CASE WHEN excluded.failed = 1 THEN 1 ELSE payment_refund.failed END`;
const DISPUTED = `INSERT INTO payment_dispute (id, payment_id, amount_nanos, withdrawn, reinstated)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    withdrawn = CASE WHEN excluded.withdrawn = 1 THEN 1 ELSE payment_dispute.withdrawn END,
    reinstated = CASE WHEN excluded.reinstated = 1 THEN 1 ELSE payment_dispute.reinstated END`;
const DUE = "UPDATE payment SET due_time_ms = COALESCE(due_time_ms, ?) WHERE id = ?";
const NOTHING_DUE = "UPDATE payment SET due_time_ms = NULL WHERE id = ? AND due_time_ms IS NOT NULL";
const OPEN_BOOKING = `SELECT payment_booking.*, account_id FROM payment_booking JOIN payment ON payment.id = payment_id
  WHERE payment_id = ? AND done_time_ms IS NULL LIMIT 1`;
const LAST_NUMBER = `SELECT CAST(COALESCE(MAX(number), 0) AS BIGINT) AS last FROM payment_booking WHERE payment_id = ?`;
const INSERT_BOOKING = `INSERT INTO payment_booking
  (payment_id, number, kind, transfer_id, amount_nanos, receivable_nanos, create_time_ms) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const BOOKED = `UPDATE payment_booking SET done_time_ms = ?, receivable_nanos = ?
  WHERE payment_id = ? AND number = ? AND done_time_ms IS NULL RETURNING kind, amount_nanos`;
const ADD_BOOKED = `UPDATE payment SET credited_nanos = credited_nanos + ?, taken_nanos = taken_nanos + ?,
  receivable_nanos = receivable_nanos + ?, problem = '' WHERE id = ?`;

export const CARD_SCRIPTS = {
  *beginPayment(start: PaymentStart, event: AuditEvent): Script<void> {
    const { id, accountId, sessionId, amountNanos, createTimeMs, expireTimeMs } = start;
    yield* rows(INSERT, id, accountId, sessionId, amountNanos, createTimeMs, expireTimeMs);
    yield* audit(event);
  },

  /** Keeps what was paid and nobody here began, for an operator to look at. False where it is kept already. */
  *keepUnknownPayment(start: PaymentStart, problem: string, event: AuditEvent): Script<boolean> {
    const { id, sessionId, amountNanos, createTimeMs, expireTimeMs } = start;
    const times = [createTimeMs, expireTimeMs, createTimeMs];
    const kept = yield* row(INSERT_UNKNOWN, id, sessionId, amountNanos, ...times, problem);
    if (kept === undefined) return false;
    yield* audit(event);
    return true;
  },

  *payment(id: string): Script<PaymentRow | undefined> {
    const found = yield* row<PaymentColumns>(`${PAYMENTS} WHERE id = ?`, id);
    return found && toPayment(found);
  },

  /** Those behind a payment, from the newest on. */
  *payments(filter: PaymentFilter, behind: PaymentPlace, size: number): Script<readonly PaymentRow[]> {
    const place = [behind.createTimeMs, behind.createTimeMs, behind.id, filter.needsAttention ? 1 : 0, size];
    const found =
      filter.accountId === ""
        ? yield* rows<PaymentColumns>(`${PAYMENTS} WHERE ${BEHIND}`, ...place)
        : yield* rows<PaymentColumns>(`${PAYMENTS} WHERE account_id = ? AND ${BEHIND}`, filter.accountId, ...place);
    return found.map(toPayment);
  },

  /** The payment of a session; undefined where it is none of ours. */
  *paymentOfSession(sessionId: string): Script<string | undefined> {
    return (yield* row<{ id: string }>("SELECT id FROM payment WHERE session_id = ?", sessionId))?.id;
  },

  /** The payment that a PaymentIntent paid, as far as that was told. */
  *paymentOfIntent(intentId: string): Script<string | undefined> {
    return (yield* row<{ id: string }>("SELECT id FROM payment WHERE intent_id = ?", intentId))?.id;
  },

  *notePaid(id: string, fact: PaidFact, event: EventName | undefined, nowMs: number): Script<void> {
    if (!(yield* takeEvent(id, event))) return;
    yield* rows(PAID, fact.paidNanos, fact.intentId, nowMs, fact.problem, id);
    yield* rows(DUE, nowMs, id);
  },

  *noteEnding(id: string, ending: PaymentEnding, event: EventName | undefined): Script<void> {
    if (yield* takeEvent(id, event)) yield* rows(ENDED, ending, id);
  },

  *noteRefunds(id: string, refunds: readonly RefundFact[], event: EventName | undefined, nowMs: number): Script<void> {
    if (!(yield* takeEvent(id, event))) return;
    for (const refund of refunds) yield* rows(REFUNDED, refund.id, id, refund.amountNanos, refund.isFailed ? 1 : 0);
    yield* rows(DUE, nowMs, id);
  },

  *noteDispute(id: string, dispute: DisputeFact, event: EventName | undefined, nowMs: number): Script<void> {
    if (!(yield* takeEvent(id, event))) return;
    const { amountNanos, isWithdrawn, isReinstated } = dispute;
    yield* rows(DISPUTED, dispute.id, id, amountNanos, isWithdrawn ? 1 : 0, isReinstated ? 1 : 0);
    yield* rows(DUE, nowMs, id);
  },

  /** The booking that is open, or a new one where the facts ask for one; undefined where all is booked. */
  *nextBooking(id: string, nowMs: number): Script<BookingRow | undefined> {
    yield* lock(lockOf(id));
    const open = yield* row<BookingColumns>(OPEN_BOOKING, id);
    if (open !== undefined) return toBooking(open);
    const payment = yield* row<PaymentColumns>(`${PAYMENTS} WHERE id = ?`, id);
    const next = payment && nextBooking(toPayment(payment));
    if (next === undefined) {
      yield* rows(NOTHING_DUE, id);
      return undefined;
    }
    const last = yield* row<{ last: bigint }>(LAST_NUMBER, id);
    const number = Number(last?.last ?? 0n) + 1;
    const transferId = number === 1 ? id : `${id}-${number}`;
    const { kind, amountNanos, receivableNanos } = next;
    yield* rows(INSERT_BOOKING, id, number, kind, transferId, amountNanos, receivableNanos, nowMs);
    yield* rows(DUE, nowMs, id);
    return { paymentId: id, accountId: payment?.account_id ?? "", number, transferId, ...next };
  },

  /** Its transfers are durable. What of it the operator is to receive is known now. */
  *noteBooked({ paymentId, number }: BookingRow, receivableNanos: bigint, nowMs: number): Script<void> {
    yield* lock(lockOf(paymentId));
    const done = yield* row<Pick<BookingColumns, "kind" | "amount_nanos">>(
      BOOKED,
      nowMs,
      receivableNanos,
      paymentId,
      number,
    );
    if (done === undefined) return;
    const nanos = done.amount_nanos;
    const [credited, taken, receivable] = {
      credit: [nanos, 0n, 0n],
      take: [0n, nanos, receivableNanos],
      return: [0n, -nanos, -receivableNanos],
    }[done.kind];
    yield* rows(ADD_BOOKED, credited, taken, receivable, paymentId);
  },

  /** Says why a payment could not be booked, and when it is tried again. Nothing where somebody booked it meanwhile. */
  *noteStuck(id: string, problem: string, nextTimeMs: number): Script<void> {
    yield* lock(lockOf(id));
    if ((yield* row(OPEN_BOOKING, id)) === undefined) return;
    yield* rows("UPDATE payment SET problem = ?, due_time_ms = ? WHERE id = ?", problem, nextTimeMs, id);
  },

  /** Payments that something is left to book of for so long. */
  *duePayments(untilMs: number): Script<readonly string[]> {
    const sql = "SELECT id FROM payment WHERE due_time_ms <= ? ORDER BY due_time_ms LIMIT 100";
    return (yield* rows<{ id: string }>(sql, untilMs)).map(({ id }) => id);
  },
};

/** False where the event had come before: what it says is known. Whoever asked Stripe itself has no event. */
function* takeEvent(paymentId: string, event: EventName | undefined): Script<boolean> {
  yield* lock(lockOf(paymentId));
  if (event === undefined) return true;
  return (yield* row(INSERT_EVENT, event.id, paymentId, event.type, event.createTimeMs)) !== undefined;
}

function lockOf(paymentId: string): string {
  return `payment ${paymentId}`;
}
