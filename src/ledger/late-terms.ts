/** What a settlement carries for a request whose hold may be lost. */
import type { HoldOperation, LateTerms } from "./operation.js";

/** The terms under which the request was admitted. */
export function termsOf(hold: HoldOperation): LateTerms {
  const { accountId, keyId, model, nodeId, amountNanos, price, budgets, nowMs, expireTimeMs } = hold;
  return { accountId, keyId, model, nodeId, amountNanos, price, budgets, createTimeMs: nowMs, expireTimeMs };
}
