/** Payments by card: begun here, paid at Stripe, and booked by what Stripe says of them, each thing once. */
import { invalid, unknown } from "../api/check.js";
import { type Act, eventOf, gatewayAct, markWritten } from "../audit/act.js";
import type { StripeSettings } from "../config/settings.js";
import type { Coordination } from "../coordination/coordination.js";
import { GatewayError } from "../base/errors.js";
import { Guesses } from "../identity/guesses.js";
import { makeId, type RandomBytes } from "../identity/tokens.js";
import { formatUsd, NANOS_PER_CENT } from "../base/money.js";
import type { PaymentRow, PaymentStart } from "../store/card-rows.js";
import type { PaymentFilter, PaymentPlace } from "../store/card-scripts.js";
import type { PeopleStore } from "../store/people-store.js";
import { type Booked, Bookings, type BookingLedger, type BookingStore } from "./bookings.js";
import { StripeApi } from "./stripe-api.js";
import { StripeReports, type ReportStore } from "./stripe-reports.js";

export type CardStore = BookingStore &
  ReportStore &
  Pick<PeopleStore, "beginPayment" | "payment" | "payments" | "duePayments">;

export interface CardPaymentOptions {
  readonly store: CardStore;
  readonly ledger: { readonly corrections: BookingLedger };
  readonly coordination: Pick<Coordination, "admit">;
  readonly accountExists: (id: string) => Promise<boolean>;
  /** As they stand now. Undefined: nothing is paid by card. */
  readonly settings: () => StripeSettings | undefined;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly onError: (error: unknown) => void;
  /** Hears of each event. Absent: nobody does. */
  readonly onEvent?: ((outcome: EventOutcome) => void) | undefined;
}

/**
 * What became of an event: it was booked, it means nothing here, it is not Stripe's, or it could not be booked now, so
 * that Stripe sends it again.
 */
export type EventOutcome = "taken" | "ignored" | "refused" | "failed";

export interface Reconciled extends Booked {
  /** What Stripe told of payments of ours. */
  readonly lookedAt: number;
  readonly stuckCount: number;
}

/** Stripe keeps a page of Checkout open for so long at least. */
const OPEN_MS = 3_600_000;
const EVENT_BYTES_MAX = 65_536;
/** Whoever was told of something books it at once; what a crash left is booked by whichever node looks first. */
const DUE_AFTER_MS = 10_000;
const SWEEP_MS = 30_000;
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 7;
const DAYS_MAX = 180;
/** Of each kind of thing. More is asked for in parts. */
const TOLD_MAX = 10_000;
const FIRST: PaymentPlace = { createTimeMs: Number.MAX_SAFE_INTEGER, id: "" };

export class CardPayments {
  readonly #guesses: Guesses;
  readonly #bookings: Bookings;
  #api: StripeApi | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: CardPaymentOptions) {
    this.#guesses = new Guesses(options.coordination, options.nowMs, "checkout");
    this.#bookings = new Bookings(options.store, options.ledger.corrections, () => this.#nowMs(), options.onError);
  }

  /** Books now and then what a node that died had been told and had not booked. */
  start(): void {
    this.#timer ??= setInterval(() => void this.settle(), SWEEP_MS).unref();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** What is taken; undefined where nothing can be paid by card. */
  get settings(): StripeSettings | undefined {
    return this.options.settings();
  }

  /**
   * A new payment with the address at Stripe where it is paid. Rejects with CARD_PAYMENTS_OFF, PARAMETER_INVALID,
   * RESOURCE_UNKNOWN, RATE_LIMITED or CARD_PAYMENTS_UNAVAILABLE.
   */
  async begin(
    { accountId, amountNanos }: Pick<PaymentStart, "accountId" | "amountNanos">,
    address: string,
    act: Act,
  ): Promise<{ readonly payment: PaymentRow; readonly url: string }> {
    const { store, accountExists, randomBytes } = this.options;
    const api = this.#required();
    checkAmount(amountNanos, api.settings);
    if (!(await accountExists(accountId))) throw unknown("account", accountId);
    await this.#guesses.takeAddress(address);
    await this.#guesses.takeName(accountId);
    const id = makeId("pay", randomBytes);
    const createTimeMs = this.#nowMs();
    const expireTimeMs = createTimeMs + OPEN_MS;
    const session = await api.createSession({ paymentId: id, accountId, amountNanos, expireTimeMs });
    if (session.url === null) throw new GatewayError("ERROR_REASON_CARD_PAYMENTS_UNAVAILABLE");
    const start = { id, accountId, sessionId: session.id, amountNanos, createTimeMs, expireTimeMs };
    const after = JSON.stringify({ amount: formatUsd(amountNanos) });
    // Before anybody is told where to pay: nothing is ever paid that is not known here.
    await store.beginPayment(start, eventOf(act, { resource: `payments/${id}`, accountId, after }));
    markWritten(act);
    const payment = await store.payment(id);
    if (payment === undefined) throw unknown("payment", id);
    return { payment, url: session.url };
  }

  payment(id: string): Promise<PaymentRow | undefined> {
    return this.options.store.payment(id);
  }

  /** The newest first, behind one of them where it is given. */
  list(filter: PaymentFilter, behind: PaymentPlace | undefined, size: number): Promise<readonly PaymentRow[]> {
    return this.options.store.payments(filter, behind ?? FIRST, size);
  }

  /**
   * Takes an event as Stripe sent it; what it means is durable once this resolves. False where it means nothing here.
   * Rejects with CARD_PAYMENTS_OFF, BODY_TOO_LARGE, STRIPE_EVENT_REFUSED, BODY_INVALID, CARD_PAYMENTS_UNAVAILABLE, or
   * as the ledger does.
   */
  async take(payload: Uint8Array, signature: string, act: Act): Promise<boolean> {
    try {
      const isOurs = await this.#take(payload, signature, act);
      this.options.onEvent?.(isOurs ? "taken" : "ignored");
      return isOurs;
    } catch (error) {
      this.options.onEvent?.(GatewayError.from(error).http < 500 ? "refused" : "failed");
      throw error;
    }
  }

  async #take(payload: Uint8Array, signature: string, act: Act): Promise<boolean> {
    if (payload.length > EVENT_BYTES_MAX)
      throw new GatewayError("ERROR_REASON_BODY_TOO_LARGE", { limit_bytes: String(EVENT_BYTES_MAX) });
    const api = this.#required();
    const event = await api.verified(payload, signature, this.#nowMs());
    const paymentId = await this.#reports(api, act).take(event);
    if (paymentId === undefined) return false;
    // Also where the event came before: whoever took it then may have died before it was booked.
    await this.#bookings.settle(paymentId, act);
    return true;
  }

  /**
   * Asks Stripe for what happened in the last days. Rejects with CARD_PAYMENTS_OFF, CARD_PAYMENTS_UNAVAILABLE or
   * PARAMETER_INVALID.
   */
  async reconcile(days: number, act: Act): Promise<Reconciled> {
    const api = this.#required();
    if (days > DAYS_MAX) throw invalid("days", `must be at most ${DAYS_MAX}`);
    const told = await api.since(this.#nowMs() - (days || DAYS_DEFAULT) * DAY_MS, TOLD_MAX);
    const lists = [told.sessions, told.refunds, told.disputes];
    if (lists.some(({ length }) => length >= TOLD_MAX)) throw invalid("days", "has too much in them: ask for fewer");
    const paymentIds = await this.#reports(api, act).takeAll(told);
    let [creditCount, correctionCount, stuckCount] = [0, 0, 0];
    for (const paymentId of paymentIds) {
      const booked = await this.#bookings.settle(paymentId, act);
      creditCount += booked.creditCount;
      correctionCount += booked.correctionCount;
      if ((await this.options.store.payment(paymentId))?.problem !== "") stuckCount += 1;
    }
    return { lookedAt: paymentIds.size, creditCount, correctionCount, stuckCount };
  }

  /** Books what is due. Never rejects. */
  async settle(): Promise<void> {
    try {
      for (const id of await this.options.store.duePayments(this.#nowMs() - DUE_AFTER_MS))
        await this.#bookings.settle(id, gatewayAct("payments.settle", this.#nowMs())).catch(this.options.onError);
    } catch (error) {
      this.options.onError(error);
    }
  }

  #reports(api: StripeApi, act: Act): StripeReports {
    return new StripeReports(this.options.store, api, act, () => this.#nowMs());
  }

  /** One for the settings in force, so that a changed key is in use at once. */
  #required(): StripeApi {
    const settings = this.options.settings();
    if (settings === undefined) throw new GatewayError("ERROR_REASON_CARD_PAYMENTS_OFF");
    if (this.#api?.settings !== settings) this.#api = new StripeApi(settings);
    return this.#api;
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function checkAmount(nanos: bigint, { amountMinNanos, amountMaxNanos }: StripeSettings): void {
  if (nanos < amountMinNanos || nanos > amountMaxNanos)
    throw invalid("amount_nanos", `must be from ${formatUsd(amountMinNanos)} to ${formatUsd(amountMaxNanos)} USD`);
  if (nanos % NANOS_PER_CENT !== 0n) throw invalid("amount_nanos", "must be whole cents");
}
