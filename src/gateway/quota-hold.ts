/** Requests in the quotas of their callers, before money is held for them. */
import { GatewayError, type ReasonName } from "../base/errors.js";
import { lesser } from "../base/money.js";
import type { Hold, Ledger } from "../ledger/ledger.js";
import type { QuotaGrant, QuotaNeed, Quotas } from "../limits/quotas.js";
import type { Plan } from "../pricing/hold-plan.js";
import type { Deadline } from "../routing/deadline.js";
import type { ServedModel } from "../routing/model.js";
import { type Opened, openHold } from "./admission.js";
import type { GatewayCall } from "./gateway.js";

/** The refusals that a smaller bound of the input may avoid. */
const FULL: ReadonlySet<ReasonName> = new Set(["ERROR_REASON_QUOTA_EXCEEDED", "ERROR_REASON_BUDGET_EXCEEDED"]);

/** A request that its quotas count, and the plan by which they do. */
export interface Counted {
  readonly plan: Plan;
  readonly quota: QuotaGrant;
}

/**
 * Counts the request with the most that it can use; undefined if no quota counts it. Rejects with QUOTA_EXCEEDED,
 * BUDGET_EXCEEDED or LEDGER_UNAVAILABLE.
 */
export function countInQuotas(
  plan: Plan,
  model: ServedModel,
  call: GatewayCall,
  quotas: Pick<Quotas, "take">,
): Promise<Counted> | undefined {
  const taking = quotas.take(call.caller, model.id, needOf(plan, call));
  return taking?.then(
    (quota) => ({ plan, quota }),
    (error: unknown) => countAgain(error, plan, model, call, quotas),
  );
}

/** Tries again with counted input tokens. */
async function countAgain(
  refusal: unknown,
  byBytes: Plan,
  model: ServedModel,
  call: GatewayCall,
  quotas: Pick<Quotas, "take">,
): Promise<Counted> {
  const isFull = refusal instanceof GatewayError && FULL.has(refusal.reason);
  const plan = isFull ? await byBytes.byCount() : undefined;
  const taking = plan && quotas.take(call.caller, model.id, needOf(plan, call));
  if (plan === undefined || taking === undefined) throw refusal;
  return { plan, quota: await taking };
}

/** Holds no more money for the request than its quotas count. Rejects as `openHold`, and then no quota counts it. */
export async function openCounted(
  { plan, quota }: Counted,
  model: ServedModel,
  call: GatewayCall,
  ledger: Pick<Ledger, "hold">,
  deadline: Deadline,
): Promise<Opened<Hold>> {
  const hold: Ledger["hold"] = (request) =>
    ledger.hold({ ...request, amountNanos: lesser(request.amountNanos, quota.nanos) });
  try {
    return await openHold(plan, model, call, { ledger: { hold } }, deadline);
  } catch (error) {
    quota.giveBack();
    throw error;
  }
}

function needOf({ tokens, amountNanos, leastNanos }: Plan, { caller }: GatewayCall): QuotaNeed {
  const most = caller.settings.requestCostMaxNanos;
  return { tokens, nanos: most > 0n ? lesser(amountNanos, most) : amountNanos, leastNanos };
}
