/** Top-up codes over a store, as a core has them. */
import { randomBytes } from "node:crypto";
import { TopUpCodes, type TopUpOptions } from "../../src/payments/top-up-codes.js";
import type { Store } from "../../src/store/store.js";

type Parts = Pick<TopUpOptions, "coordination" | "ledger" | "nowMs">;

export function topUpOver({ people }: Pick<Store, "people">, parts: Parts): TopUpCodes {
  return new TopUpCodes({ store: people, randomBytes, onError: () => undefined, ...parts });
}
