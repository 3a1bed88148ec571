/** Nodes that take card payments over one store and one ledger, and a Stripe of their own. */
import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { StripeSettings } from "../../src/config/settings.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { NANOS_PER_CENT } from "../../src/base/money.js";
import type { BookingLedger } from "../../src/payments/bookings.js";
import type { CardPayments } from "../../src/payments/card-payments.js";
import type { PaymentRow } from "../../src/store/card-rows.js";
import type { Store } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { cardsOver } from "../support/cards-over.js";
import { FakeStripe, SECRET_KEY, type SignedEvent, WEBHOOK_SECRET } from "../support/fake-stripe.js";

export const START_MS = Date.UTC(2026, 10, 22);
const CONSOLE_URL = "https://gateway.example.com/console";

export interface CardWorld {
  readonly stripe: FakeStripe;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: { nowMs: number };
  /** What nodes told of what they could not book. */
  readonly told: unknown[];
  node(ledger?: BookingLedger): CardPayments;
  /** A payment of so many cents that was begun, and its session. */
  begin(node: CardPayments, cents: number, accountId?: string): Promise<{ id: string; sessionId: string }>;
  payment(id: string): Promise<PaymentRow>;
  /** What the account has free, in cents. */
  cents(accountId?: string): Promise<number>;
  spend(cents: number): Promise<void>;
}

export function send(node: CardPayments, { payload, signature }: Pick<SignedEvent, "payload" | "signature">) {
  return node.take(Buffer.from(payload), signature, newAct());
}

/** Each call has an actor of its own. */
export const newAct = (): typeof TEST_ACT => ({ ...TEST_ACT, actor: { ...TEST_ACT.actor } });

export async function openCardWorld(store: Store): Promise<CardWorld> {
  const clock = { nowMs: START_MS };
  const nowMs = (): number => clock.nowMs;
  const stripe = await FakeStripe.start(nowMs);
  onTestFinished(() => stripe.close());
  const ledger = new Ledger({ store, nodeId: randomUUID(), nowMs });
  await ledger.start();
  onTestFinished(() => ledger.close());
  for (const id of ["acme", "other"]) await ledger.createAccount({ id, name: id }, newAct());
  const coordination = createInProcessCoordination({ nowMs, heartbeatMs: 0 });
  const settings: StripeSettings = {
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    consoleUrl: CONSOLE_URL,
    amountsNanos: [],
    amountMinNanos: 100n * NANOS_PER_CENT,
    amountMaxNanos: 100_000n * NANOS_PER_CENT,
    apiBase: stripe.url,
  };
  const told: unknown[] = [];
  const onError = (error: unknown): void => void told.push(error);
  const cents = async (id = "acme"): Promise<number> =>
    Number((await ledger.balance(id)).availableNanos / NANOS_PER_CENT);
  let addresses = 0;
  return {
    stripe,
    store,
    ledger,
    clock,
    told,
    node: (of = ledger.corrections) =>
      cardsOver(store, { ledger: { corrections: of }, coordination, nowMs, onError, settings: () => settings }),
    begin: async (node, amount, accountId = "acme") => {
      // The rates of beginning are a test of their own.
      clock.nowMs += 60_000;
      const wish = { accountId, amountNanos: BigInt(amount) * NANOS_PER_CENT };
      const { payment } = await node.begin(wish, `198.51.100.${(addresses += 1) % 250}`, newAct());
      return { id: payment.id, sessionId: payment.sessionId };
    },
    payment: async (id) => {
      const payment = await store.people.payment(id);
      if (payment === undefined) throw new Error(`there is no payment ${id}`);
      return payment;
    },
    cents,
    spend: async (amount) => {
      const asked = { accountId: "acme", amountNanos: BigInt(amount) * NANOS_PER_CENT, act: newAct() };
      await ledger.corrections.debit({ debitId: randomUUID(), reason: "spent", actor: "test", ...asked });
    },
  };
}
