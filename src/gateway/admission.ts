/**
 * The steps before a request runs: its model, its limits and its hold. A bound by bytes is tried first; only where that
 * is refused, the input is counted.
 */
import { GatewayError, type ReasonName } from "../errors.js";
import { failpoint } from "../failpoint.js";
import type { Caller } from "../keys/caller.js";
import type { HoldRequest } from "../ledger/ledger.js";
import type { Admission } from "../limits/limits.js";
import type { Deadline } from "../routing/deadline.js";
import type { ServedModel } from "../routing/model.js";
import { boundInput } from "./count.js";
import type { GatewayCall } from "./gateway.js";
import type { Asked } from "./generate.js";
import { budgetsOf, type Plan, planByBytes, planFor } from "./hold-plan.js";
import type { Steps } from "./steps.js";

/** What a lower bound of the input may mend. */
const NO_MONEY: ReadonlySet<ReasonName> = new Set([
  "ERROR_REASON_BALANCE_TOO_LOW",
  "ERROR_REASON_BUDGET_EXCEEDED",
  "ERROR_REASON_BALANCE_HELD",
]);

/** Who sets money aside. A question about a request asks one who says the same and takes nothing. */
export interface Holder<Held extends object> {
  readonly ledger: { hold(request: HoldRequest): Held | Promise<Held> };
}

/** The model that the request names. Throws MODEL_UNKNOWN, then MODEL_NOT_ALLOWED. */
export function findModel(id: string, caller: Caller, steps: Steps): ServedModel {
  const model = steps.routing.find(id);
  if (!caller.mayUseModel(id)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: id });
  return model;
}

/**
 * Takes the tokens that the request may use, and its model, into its limits, at once where they are at hand. Throws or
 * rejects with RATE_LIMITED.
 */
export function reserve(
  asked: Asked,
  model: ServedModel,
  call: GatewayCall,
  admission: Admission,
): Plan | Promise<Plan> {
  const plan = planByBytes(asked.request, asked.generation, model, call.caller);
  const refused = (error: unknown): Promise<Plan> => reserveByCount(error, plan, asked, model, call, admission);
  try {
    const reserving = admission.reserve(plan.tokens, model.id);
    return reserving === undefined ? plan : reserving.then(() => plan, refused);
  } catch (error) {
    return refused(error);
  }
}

/** Once more with the input counted, where its bound by bytes was refused for its tokens. */
async function reserveByCount(
  refusal: unknown,
  byBytes: Plan,
  asked: Asked,
  model: ServedModel,
  { caller }: GatewayCall,
  admission: Admission,
): Promise<Plan> {
  const tokens = refusal instanceof GatewayError && refusal.metadata["limit"] === "tokens_per_minute";
  const plan = tokens ? await planByCount(asked, model, byBytes, caller) : undefined;
  if (plan === undefined) throw refusal;
  await admission.reserve(plan.tokens, model.id);
  return plan;
}

/** The money that was set aside, and the plan that it covers. */
export interface Opened<Held> {
  readonly hold: Held;
  readonly plan: Plan;
}

/**
 * Sets money aside, at once where that needs no wait. Rejects with BALANCE_TOO_LOW, BUDGET_EXCEEDED, BALANCE_HELD or
 * LEDGER_UNAVAILABLE.
 */
export function openHold<Held extends object>(
  asked: Asked,
  model: ServedModel,
  plan: Plan,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Opened<Held> | Promise<Opened<Held>> {
  const before = call.beforeHold?.();
  if (before !== undefined) return before.then(() => openNow(asked, model, plan, call, gates, deadline));
  return openNow(asked, model, plan, call, gates, deadline);
}

function openNow<Held extends object>(
  asked: Asked,
  model: ServedModel,
  plan: Plan,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Opened<Held> | Promise<Opened<Held>> {
  const refused = (error: unknown): Promise<Opened<Held>> =>
    openByCount(error, plan, asked, model, call, gates, deadline);
  try {
    const holding = holdFor(plan, model, call, gates, deadline);
    return holding instanceof Promise ? holding.then((hold) => ({ hold, plan }), refused) : { hold: holding, plan };
  } catch (error) {
    return refused(error);
  }
}

/** Once more with the input counted, where its bound by bytes was refused for its money. */
async function openByCount<Held extends object>(
  refusal: unknown,
  byBytes: Plan,
  asked: Asked,
  model: ServedModel,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Promise<Opened<Held>> {
  const money = refusal instanceof GatewayError && NO_MONEY.has(refusal.reason);
  const plan = money ? await planByCount(asked, model, byBytes, call.caller) : undefined;
  if (plan === undefined) throw refusal;
  return { hold: await holdFor(plan, model, call, gates, deadline), plan };
}

/** The plan by a count of the input, where that is lower than the plan at hand. */
async function planByCount(asked: Asked, model: ServedModel, plan: Plan, caller: Caller): Promise<Plan | undefined> {
  // Only where the tokenizer is the family's own is a count an upper bound.
  if (model.targets.some((target) => !target.served.family.countsLikeOurs)) return undefined;
  // From where the plan by bytes is no higher, a count helps nobody.
  const countFor = { account: caller.accountId, lane: "question", tokensMax: plan.inputTokensMax } as const;
  let bound = 0;
  for (const target of model.targets) {
    const counted = await boundInput(asked.request, target.model, countFor);
    if (counted === undefined) return undefined;
    bound = Math.max(bound, counted);
  }
  if (bound >= plan.inputTokensMax) return undefined;
  return planFor(bound, asked.request.facts, asked.generation, model, caller);
}

function holdFor<Held extends object>(
  plan: Plan,
  model: ServedModel,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Held | Promise<Held> {
  const { caller, requestId } = call;
  const most = caller.settings.requestCostMaxNanos;
  if (most > 0n && plan.leastNanos > most) {
    throw new GatewayError("ERROR_REASON_BUDGET_EXCEEDED", {
      budget: "request",
      owner: `key ${caller.keyId}`,
      limit_nanos: String(most),
      remaining_nanos: String(most),
      needed_nanos: String(plan.leastNanos),
    });
  }
  failpoint("before_hold");
  return gates.ledger.hold({
    requestId,
    accountId: caller.accountId,
    keyId: caller.keyId,
    model: model.id,
    amountNanos: most > 0n && most < plan.amountNanos ? most : plan.amountNanos,
    leastNanos: plan.leastNanos,
    budgets: budgetsOf(caller),
    price: model.price,
    timeoutMs: deadline.lifeMs(performance.now()),
  });
}
