/**
 * The steps before a request runs: its model, its limits and its hold. The cost is first bounded by the request's
 * bytes. Only if that bound is refused are the input tokens counted.
 */
import { GatewayError, type ReasonName } from "../base/errors.js";
import { failpoint } from "../base/failpoint.js";
import { whenReady } from "../base/when-ready.js";
import type { ModelKind } from "../families/family.js";
import type { Caller } from "../keys/caller.js";
import type { HoldRequest } from "../ledger/ledger.js";
import type { KeyBudget } from "../ledger/operation.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import { type Plan, planByBytes } from "../pricing/hold-plan.js";
import type { Deadline } from "../routing/deadline.js";
import type { ServedModel } from "../routing/model.js";
import { takesLimit } from "../routing/upstream-request.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import type { Steps } from "./steps.js";

/** The refusals that a smaller bound of the input may avoid. */
const NO_MONEY: ReadonlySet<ReasonName> = new Set([
  "ERROR_REASON_BALANCE_TOO_LOW",
  "ERROR_REASON_BUDGET_EXCEEDED",
  "ERROR_REASON_BALANCE_HELD",
]);

/** Something that can hold money. An estimate uses one that decides in the same way and holds nothing. */
export interface Holder<Held extends object> {
  readonly ledger: { hold(request: HoldRequest): Held | Promise<Held> };
}

/** Finds the model that the request names. Throws MODEL_UNKNOWN, then MODEL_NOT_ALLOWED. */
export function findModel(id: string, caller: Caller, steps: Steps): ServedModel {
  return steps.routing.find(id, caller);
}

/** The most that the request may cost, bounded by its bytes. */
export function planOf(
  { request, generation }: Pick<ParsedRequest, "request" | "generation">,
  model: ServedModel,
  kind: ModelKind,
  { caller }: GatewayCall,
): Plan {
  const { outputTokensMax, clamp } = generation;
  return planByBytes({
    request,
    model,
    outputTokensMax: outputTokensMax === undefined ? undefined : Number(outputTokensMax),
    limitIsSent: takesLimit(model, request, kind),
    // A surface has no member that makes its answer shorter.
    mayClamp: request.facts.surface === undefined && (clamp ?? !caller.settings.refuseUnaffordable),
    accountId: caller.accountId,
  });
}

/**
 * Takes the request's possible tokens and its model into the limits; synchronously if the limits are local. Throws or
 * rejects with RATE_LIMITED.
 */
export function reserve(plan: Plan, model: ServedModel, admission: LimitDecision): Plan | Promise<Plan> {
  const refused = (error: unknown): Promise<Plan> => reserveByCount(error, plan, model, admission);
  try {
    const reserving = admission.reserve(plan.tokens, model.id);
    return reserving === undefined ? plan : reserving.then(() => plan, refused);
  } catch (error) {
    return refused(error);
  }
}

/** Tries again with counted input tokens, if the bound by bytes was refused for its tokens. */
async function reserveByCount(
  refusal: unknown,
  byBytes: Plan,
  model: ServedModel,
  admission: LimitDecision,
): Promise<Plan> {
  const tokens = refusal instanceof GatewayError && refusal.metadata["limit"] === "tokens_per_minute";
  const plan = tokens ? await byBytes.byCount() : undefined;
  if (plan === undefined) throw refusal;
  await admission.reserve(plan.tokens, model.id);
  return plan;
}

/** The money that is held, and the plan that it covers. */
export interface Opened<Held> {
  readonly hold: Held;
  readonly plan: Plan;
}

/**
 * Holds money for the request; synchronously if no wait is needed. Rejects with BALANCE_TOO_LOW, BUDGET_EXCEEDED,
 * BALANCE_HELD or LEDGER_UNAVAILABLE.
 */
export function openHold<Held extends object>(
  plan: Plan,
  model: ServedModel,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Opened<Held> | Promise<Opened<Held>> {
  const before = call.beforeHold?.();
  if (before !== undefined) return before.then(() => openNow(plan, model, call, gates, deadline));
  return openNow(plan, model, call, gates, deadline);
}

function openNow<Held extends object>(
  plan: Plan,
  model: ServedModel,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Opened<Held> | Promise<Opened<Held>> {
  const refused = (error: unknown): Promise<Opened<Held>> => openByCount(error, plan, model, call, gates, deadline);
  try {
    const holding = holdFor(plan, model, call, gates, deadline);
    return whenReady(holding, (hold): Opened<Held> => ({ hold, plan }), refused);
  } catch (error) {
    return refused(error);
  }
}

/** Tries again with counted input tokens, if the bound by bytes was refused for its money. */
async function openByCount<Held extends object>(
  refusal: unknown,
  byBytes: Plan,
  model: ServedModel,
  call: GatewayCall,
  gates: Holder<Held>,
  deadline: Deadline,
): Promise<Opened<Held>> {
  const money = refusal instanceof GatewayError && NO_MONEY.has(refusal.reason);
  const plan = money ? await byBytes.byCount() : undefined;
  if (plan === undefined) throw refusal;
  return { hold: await holdFor(plan, model, call, gates, deadline), plan };
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

/** The budgets of a key and of the keys that created it, as the ledger checks them. */
function budgetsOf(caller: Caller): KeyBudget[] {
  const budgets: KeyBudget[] = [];
  addBudgets(budgets, caller, undefined);
  for (let { maker } = caller; maker !== undefined; maker = maker.maker) addBudgets(budgets, maker, maker.keyId);
  return budgets;
}

function addBudgets(budgets: KeyBudget[], { settings }: Caller, makerId: string | undefined): void {
  const { budgetDayNanos, budgetWeekNanos, budgetMonthNanos, budgetQuarterNanos, budgetTotalNanos } = settings;
  if (budgetDayNanos > 0n) budgets.push({ period: "day", limitNanos: budgetDayNanos, makerId });
  if (budgetMonthNanos > 0n) budgets.push({ period: "month", limitNanos: budgetMonthNanos, makerId });
  if (budgetWeekNanos > 0n) budgets.push({ period: "week", limitNanos: budgetWeekNanos, makerId });
  if (budgetQuarterNanos > 0n) budgets.push({ period: "quarter", limitNanos: budgetQuarterNanos, makerId });
  if (budgetTotalNanos > 0n) budgets.push({ period: "total", limitNanos: budgetTotalNanos, makerId });
}
