/** What a settlement says of a request whose hold may be lost. */
import type { HoldOperation, LateTerms } from "./operation.js";

/** What the request was admitted on. */
export function termsOf(hold: HoldOperation): LateTerms {
  const { accountId, keyId, model, nodeId, amountNanos, price, budgets, nowMs, expireTimeMs } = hold;
  return { accountId, keyId, model, nodeId, amountNanos, price, budgets, createTimeMs: nowMs, expireTimeMs };
}
