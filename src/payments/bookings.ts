/** Books what is known of payments: each booking is one transfer by its own id, whoever does it and however often. */
import type { Act } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { Corrections } from "../ledger/corrections.js";
import type { BookingRow } from "../store/card-rows.js";
import type { PeopleStore } from "../store/people-store.js";

export type BookingStore = Pick<PeopleStore, "nextBooking" | "noteBooked" | "noteStuck">;

export type BookingLedger = Pick<Corrections, "credit" | "debit">;

export interface Booked {
  readonly creditCount: number;
  readonly correctionCount: number;
}

/** Who is said to have made a correction. */
const ACTOR = "stripe";
/** More than the refunds and disputes of one payment ever come to. */
const BOOKINGS_MAX = 1_000;
/** How long until what the ledger refuses is tried again. */
const STUCK_MS = 600_000;

export class Bookings {
  constructor(
    private readonly store: BookingStore,
    private readonly ledger: BookingLedger,
    private readonly nowMs: () => number,
    private readonly onStuck: (error: unknown) => void,
  ) {}

  /**
   * Books all that is known of a payment. What the ledger refuses for good is kept for an operator to look at; rejects
   * as the ledger does where it could be booked later.
   */
  async settle(paymentId: string, act: Act): Promise<Booked> {
    let [creditCount, correctionCount] = [0, 0];
    for (let count = 0; count < BOOKINGS_MAX; count++) {
      const booking = await this.store.nextBooking(paymentId, this.nowMs());
      if (booking === undefined) break;
      try {
        await this.store.noteBooked(booking, await this.#book(booking, act), this.nowMs());
      } catch (error) {
        if (!isRefusal(error)) throw error;
        await this.store.noteStuck(paymentId, error.message, this.nowMs() + STUCK_MS);
        this.onStuck(error);
        break;
      }
      if (booking.kind === "credit") creditCount += 1;
      else correctionCount += 1;
    }
    return { creditCount, correctionCount };
  }

  /** How much of it the operator is to receive. */
  async #book({ kind, paymentId, transferId, ...booking }: BookingRow, act: Act): Promise<bigint> {
    const { accountId, amountNanos, receivableNanos } = booking;
    switch (kind) {
      case "credit":
        await this.ledger.credit({ creditId: transferId, accountId, amountNanos, act });
        return 0n;
      case "take": {
        const reason = `Refunded or disputed: the card payment ${paymentId}`;
        const asked = { debitId: transferId, accountId, amountNanos, reason, actor: ACTOR, act };
        return (await this.ledger.debit(asked)).receivableNanos;
      }
      case "return": {
        const creditedNanos = amountNanos - receivableNanos;
        const note = { reason: `No longer refunded or disputed: the card payment ${paymentId}`, actor: ACTOR };
        if (creditedNanos > 0n)
          await this.ledger.credit({ creditId: transferId, accountId, amountNanos: creditedNanos, note, act });
        return receivableNanos;
      }
    }
  }
}

/** True of what is refused however often it is tried: the account is gone, or the id is taken. */
function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.http < 500 && error.http !== 429;
}
