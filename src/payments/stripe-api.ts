/** Stripe as this gateway asks it, by its official package, which is loaded where payments by card are set up. */
import type Stripe from "stripe";
import type { StripeSettings } from "../config/settings.js";
import { GatewayError } from "../base/errors.js";
import { NANOS_PER_CENT } from "../base/money.js";
import { isTimely, TOLERANCE_S } from "./stripe-signature.js";
import { eventIn, HINT_CONSOLE, HINT_ID, type StripeEvent } from "./stripe-facts.js";

const TIMEOUT_MS = 20_000;
const RETRIES_MAX = 2;
const PAGE_SIZE = 100;
/** No payment has nearly as many refunds. */
const REFUNDS_MAX = 1_000;

export interface SessionParams {
  readonly paymentId: string;
  readonly accountId: string;
  readonly amountNanos: bigint;
  readonly expireTimeMs: number;
}

export class StripeApi {
  #client: Promise<Stripe> | undefined;

  constructor(readonly settings: StripeSettings) {}

  /** Rejects with STRIPE_EVENT_REFUSED, or BODY_INVALID where it is signed and no event. */
  async verified(payload: Uint8Array, signature: string, nowMs: number): Promise<StripeEvent> {
    const { webhooks } = await this.#loaded();
    const body = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    const { webhookSecret } = this.settings;
    if (!isTimely(signature, nowMs)) throw new GatewayError("ERROR_REASON_STRIPE_EVENT_REFUSED", {});
    try {
      return eventIn(webhooks.constructEvent(body, signature, webhookSecret, TOLERANCE_S, undefined, nowMs));
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      // It is read once its signature holds.
      if (cause instanceof SyntaxError)
        throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it is no JSON" });
      throw new GatewayError("ERROR_REASON_STRIPE_EVENT_REFUSED", {}, { cause: wordsOf(cause) });
    }
  }

  /** A new Checkout Session. Rejects with CARD_PAYMENTS_UNAVAILABLE. */
  createSession(params: SessionParams): Promise<Stripe.Checkout.Session> {
    const { paymentId, accountId, amountNanos, expireTimeMs } = params;
    const { consoleUrl } = this.settings;
    const back = `${consoleUrl}/billing?${new URLSearchParams({ account: accountId, payment: paymentId }).toString()}`;
    const metadata = { [HINT_ID]: paymentId, [HINT_CONSOLE]: consoleUrl };
    const price = {
      currency: "usd",
      unit_amount: Number(amountNanos / NANOS_PER_CENT),
      product_data: { name: `Credit for ${accountId}` },
    };
    return this.#ask((stripe) =>
      stripe.checkout.sessions.create(
        {
          mode: "payment",
          line_items: [{ quantity: 1, price_data: price }],
          client_reference_id: paymentId,
          metadata,
          payment_intent_data: { metadata },
          success_url: back,
          cancel_url: `${back}&cancelled=yes`,
          expires_at: Math.floor(expireTimeMs / 1_000),
        },
        { idempotencyKey: paymentId },
      ),
    );
  }

  /** The session that a PaymentIntent belongs to; undefined where it was paid otherwise. */
  async sessionOf(intentId: string): Promise<Stripe.Checkout.Session | undefined> {
    const found = await this.#ask((stripe) => stripe.checkout.sessions.list({ payment_intent: intentId, limit: 1 }));
    return found.data[0];
  }

  refundsOf(intentId: string): Promise<readonly Stripe.Refund[]> {
    return this.#ask((stripe) =>
      stripe.refunds.list({ payment_intent: intentId, limit: PAGE_SIZE }).autoPagingToArray({ limit: REFUNDS_MAX }),
    );
  }

  /** What was made since, at most so many of each: sessions that were completed, refunds, and disputes. */
  async since(
    timeMs: number,
    countMax: number,
  ): Promise<{
    readonly sessions: readonly Stripe.Checkout.Session[];
    readonly refunds: readonly Stripe.Refund[];
    readonly disputes: readonly Stripe.Dispute[];
  }> {
    const asked = { created: { gte: Math.floor(timeMs / 1_000) }, limit: PAGE_SIZE };
    const all = { limit: countMax };
    return this.#ask(async (stripe) => ({
      sessions: await stripe.checkout.sessions.list({ ...asked, status: "complete" }).autoPagingToArray(all),
      refunds: await stripe.refunds.list(asked).autoPagingToArray(all),
      disputes: await stripe.disputes.list(asked).autoPagingToArray(all),
    }));
  }

  async #ask<Answer>(question: (stripe: Stripe) => Promise<Answer>): Promise<Answer> {
    const stripe = await this.#loaded();
    try {
      return await question(stripe);
    } catch (cause) {
      throw new GatewayError("ERROR_REASON_CARD_PAYMENTS_UNAVAILABLE", {}, { cause: wordsOf(cause) });
    }
  }

  #loaded(): Promise<Stripe> {
    this.#client ??= load(this.settings).catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }
}

async function load({ secretKey, apiBase }: StripeSettings): Promise<Stripe> {
  const { Stripe: Client } = await import("stripe");
  const place = apiBase === undefined ? {} : placeOf(new URL(apiBase));
  return new Client(secretKey, { ...place, timeout: TIMEOUT_MS, maxNetworkRetries: RETRIES_MAX, telemetry: false });
}

function placeOf({ hostname, port }: URL): { readonly protocol: "http"; readonly host: string; readonly port: string } {
  return { protocol: "http", host: hostname.replace(/^\[|\]$/g, ""), port: port || "80" };
}

/** For the log: what failed, without what Stripe repeats of a request or a key. */
function wordsOf(cause: unknown): Error {
  const told: Record<string, unknown> = typeof cause === "object" && cause !== null ? { ...cause } : {};
  const words = ["type", "code", "statusCode", "requestId"].flatMap((name) => {
    const value = told[name];
    return typeof value === "string" || typeof value === "number" ? [`${name} ${value}`] : [];
  });
  return new Error(`Stripe: ${words.join(", ") || "no answer"}`);
}
