/** Payments by card over a store, as a core has them that has none set up unless its test says so. */
import { randomBytes } from "node:crypto";
import { CardPayments, type CardPaymentOptions } from "../../src/payments/card-payments.js";
import type { Store } from "../../src/store/store.js";

type Parts = Pick<CardPaymentOptions, "coordination" | "ledger" | "nowMs"> & Partial<CardPaymentOptions>;

export function cardsOver({ people, accounts }: Pick<Store, "people" | "accounts">, parts: Parts): CardPayments {
  return new CardPayments({
    store: people,
    accountExists: async (id) => (await accounts.get(id)) !== undefined,
    settings: () => undefined,
    randomBytes,
    onError: () => undefined,
    ...parts,
  });
}
