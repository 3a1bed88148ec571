/** What Stripe reports, brought to the payments that it is of: facts, in any order and more than once. */
import { type Act, eventOf, markWritten } from "../audit/act.js";
import { digestOf } from "../identity/tokens.js";
import { formatUsd } from "../base/money.js";
import type { EventName } from "../store/card-scripts.js";
import type { PeopleStore } from "../store/people-store.js";
import type { StripeApi } from "./stripe-api.js";
import { disputeIn, intentIn, refundIn, type SessionFacts, sessionIn, type StripeEvent } from "./stripe-facts.js";

export type ReportStore = Pick<
  PeopleStore,
  | "paymentOfSession"
  | "paymentOfIntent"
  | "keepUnknownPayment"
  | "notePaid"
  | "noteEnding"
  | "noteRefunds"
  | "noteDispute"
>;

type Api = Pick<StripeApi, "settings" | "sessionOf" | "refundsOf">;
type Told = Awaited<ReturnType<StripeApi["since"]>>;

const UNKNOWN = "paid, but this database does not know the payment: credit the account by hand";

export class StripeReports {
  constructor(
    private readonly store: ReportStore,
    private readonly api: Api,
    private readonly act: Act,
    private readonly nowMs: () => number,
  ) {}

  /** The payment that an event is of; undefined where it is none of ours, or of a kind that means nothing here. */
  async take(event: StripeEvent): Promise<string | undefined> {
    const name = { id: event.id, type: event.type, createTimeMs: event.created * 1_000 };
    const { object } = event.data;
    switch (event.type) {
      case "checkout.session.completed":
      case "checkout.session.async_payment_succeeded":
        return this.#session(sessionIn(object), name);
      case "checkout.session.async_payment_failed":
        return this.#ended(sessionIn(object), "failed", name);
      case "checkout.session.expired":
        return this.#ended(sessionIn(object), "expired", name);
      // Of an older form a charge tells no refunds, and a sum no failed ones: Stripe is asked for each.
      case "charge.refunded":
      case "charge.refund.updated":
      case "refund.created":
      case "refund.updated":
      case "refund.failed":
        return this.#refunded(intentIn(object), name);
      case "charge.dispute.created":
      case "charge.dispute.updated":
      case "charge.dispute.closed":
      case "charge.dispute.funds_withdrawn":
      case "charge.dispute.funds_reinstated":
        return this.#disputed(object, name);
      default:
        return undefined;
    }
  }

  /** The payments that lists of Stripe's are of. */
  async takeAll({ sessions, refunds, disputes }: Told): Promise<ReadonlySet<string>> {
    const found = new Set<string | undefined>();
    for (const session of sessions) found.add(await this.#session(sessionIn(session), undefined));
    const intents = new Set(refunds.map(intentIn));
    for (const intentId of intents) found.add(await this.#refunded(intentId, undefined));
    for (const dispute of disputes) found.add(await this.#disputed(dispute, undefined));
    return new Set([...found].filter((id) => id !== undefined));
  }

  async #session(session: SessionFacts, event: EventName | undefined): Promise<string | undefined> {
    const id = await this.store.paymentOfSession(session.id);
    if (id === undefined) return session.isPaid ? this.#keepUnknown(session) : undefined;
    if (session.isPaid) await this.store.notePaid(id, session.paid, event, this.nowMs());
    else await this.store.noteEnding(id, "pending", event);
    return id;
  }

  async #ended(
    { id: sessionId }: SessionFacts,
    ending: "failed" | "expired",
    event: EventName,
  ): Promise<string | undefined> {
    const id = await this.store.paymentOfSession(sessionId);
    if (id !== undefined) await this.store.noteEnding(id, ending, event);
    return id;
  }

  async #refunded(intentId: string | undefined, event: EventName | undefined): Promise<string | undefined> {
    const id = await this.#paymentOf(intentId);
    if (id === undefined || intentId === undefined) return undefined;
    const refunds = (await this.api.refundsOf(intentId)).map(refundIn).filter((refund) => refund !== undefined);
    await this.store.noteRefunds(id, refunds, event, this.nowMs());
    return id;
  }

  async #disputed(object: unknown, event: EventName | undefined): Promise<string | undefined> {
    const dispute = disputeIn(object, event?.type);
    const id = await this.#paymentOf(dispute?.intentId);
    if (id === undefined || dispute === undefined) return undefined;
    await this.store.noteDispute(id, dispute, event, this.nowMs());
    return id;
  }

  /** What took money back may be told before what brought it: then Stripe is asked for that. */
  async #paymentOf(intentId: string | undefined): Promise<string | undefined> {
    if (intentId === undefined) return undefined;
    const known = await this.store.paymentOfIntent(intentId);
    if (known !== undefined) return known;
    const session = await this.api.sessionOf(intentId);
    return session === undefined ? undefined : this.#session(sessionIn(session), undefined);
  }

  /** Money that was paid for this gateway is never lost, also where a restored database forgot what it was for. */
  async #keepUnknown({ id: sessionId, hint, paid }: SessionFacts): Promise<string | undefined> {
    if (hint?.consoleUrl !== this.api.settings.consoleUrl) return undefined;
    const id = `pay_${Buffer.from(digestOf(sessionId)).toString("hex").slice(0, 24)}`;
    const nowMs = this.nowMs();
    const amountNanos = paid.paidNanos;
    const start = { id, accountId: "", sessionId, amountNanos, createTimeMs: nowMs, expireTimeMs: nowMs };
    const after = JSON.stringify({ amount: formatUsd(amountNanos), begunAs: hint.paymentId, problem: UNKNOWN });
    const record = eventOf(this.act, { resource: `payments/${id}`, accountId: "", after });
    if (await this.store.keepUnknownPayment(start, UNKNOWN, record)) markWritten(this.act);
    return id;
  }
}
