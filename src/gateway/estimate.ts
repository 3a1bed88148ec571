/**
 * Estimates what a request may cost and whether it would be admitted, without running it. It holds no money and uses no
 * limits, except for one request if an upstream is asked to count tokens.
 */
import { DAY_MS, dayOf } from "../base/day.js";
import { ErrorReason, EstimateCostResponse, type EstimatedTarget, type Meter, Price } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { GatewayError } from "../base/errors.js";
import { requireUnfrozen } from "../keys/account-freeze.js";
import type { ModelKind } from "../families/family.js";
import type { Plan } from "../pricing/hold-plan.js";
import { costNanos } from "../pricing/price.js";
import type { ServedModel, Target } from "../routing/model.js";
import { shownHealth } from "../routing/catalog.js";
import { likelyOrder, targetsFor } from "../routing/pick.js";
import { dryRun } from "../routing/upstream-request.js";
import { findModel, type Holder, openHold, planOf, reserve } from "./admission.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import { type KnownInput, ownInput, toldInput } from "./known-input.js";
import type { Steps } from "./steps.js";
import { isStrict, modelRequest } from "./turn.js";
import { lesser } from "../base/money.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import { canCount } from "../routing/counting.js";
import type { WireRequest } from "../wire/wire.js";

/** How many days of the account's answers are used to predict the length of the next one. */
const HISTORY_DAYS = 30;

/** Rejects if the request itself is invalid. Every other refusal is part of the result. */
export async function estimate(came: ParsedRequest, call: GatewayCall, steps: Steps): Promise<EstimateCostResponse> {
  const { facts } = came.request;
  let model: ServedModel;
  try {
    model = findModel(facts.model, call.caller, steps);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.reason !== "ERROR_REASON_MODEL_NOT_ALLOWED") throw error;
    // Whoever may not use a model learns nothing of its upstreams and prices.
    const nothing = EstimateCostResponse.decode(new Uint8Array());
    return { ...nothing, model: facts.model, ...refusedBy(error) };
  }
  const asked = modelRequest(model, came);
  const { kind, request } = asked;
  const byBytes = planOf(asked, model, kind, call);
  const { plan, heldNanos, refusal: gateRefusal } = await tryAdmission(byBytes, model, call, steps);
  const outputTokens = gateRefusal === undefined ? plan.coveredOutputTokens(heldNanos) : plan.outputTokensMax;
  const outputTokensMax = (outputTokens ?? 0) * plan.candidateCount;
  const mostNanos = gateRefusal === undefined ? heldNanos : plan.amountNanos;
  const routeMs = steps.routing.nowMs();
  const { stream, candidateCount } = request.facts;
  const strict = isStrict(request, call.caller);
  const asking = { kind, outputTokensMax: plan.sentOutputTokens(outputTokens), stream, candidateCount, strict };
  const foresight = await dryRun(request, model, asking, routeMs, call.caller.accountId, steps.routing.containers);
  const refusal = gateRefusal ?? foresight.refusal;
  // Only what a chat reads is counted by an upstream, and what it or we would refuse is not sent there to be counted.
  const mayAsk = gateRefusal === undefined && kind === "chat" && foresight.refusals.size === 0;
  const told = mayAsk ? await askedInput(request, model, call, steps) : undefined;
  const input = told ?? (await ownInput(request, model, plan.inputTokensMax, call));
  const expected = await expectedOutput(kind, model, outputTokensMax, call, steps);
  const inputTokens = BigInt(input.tokens);
  const meters = [...(request.facts.metersExpected ?? [])];
  const expectedUsage = { ...NO_USAGE, inputTokens, outputTokens: BigInt(expected.tokens), meters };
  const route = likelyOrder(targetsFor(model, kind), routeMs);
  return {
    model: model.id,
    upstream: route[0]?.served.id ?? "",
    // Which others there are, and how they stand, is the operator's business.
    route: call.caller.hasScope("operator")
      ? route.map((target) => estimatedTarget(target, foresight.refusals.get(target), routeMs))
      : [],
    inputTokens,
    inputSource: input.source,
    inputTokensMax: BigInt(plan.inputTokensMax),
    outputTokensMax: BigInt(outputTokensMax),
    leastCostNanos: leastNanos(inputTokens, meters, model.price),
    expectedCostNanos: lesser(costNanos(expectedUsage, model.price), mostNanos),
    expectedOutputTokens: BigInt(expected.tokens),
    expectedRequestCount: BigInt(expected.requestCount),
    mostCostNanos: mostNanos,
    holdNanos: refusal === undefined ? heldNanos : 0n,
    ...(refusal === undefined ? ADMITTED : refusedBy(refusal)),
  };
}

/**
 * The upstream's token count. The key's request limits bound how often an upstream is called, because the call costs
 * the client nothing. Undefined if the limits allow no call now, or the upstream cannot count.
 */
async function askedInput(
  request: WireRequest,
  model: ServedModel,
  call: GatewayCall,
  steps: Steps,
): Promise<KnownInput | undefined> {
  if (!canCount(model)) return undefined;
  const admission = await admitted(steps, call);
  if (admission === undefined) return undefined;
  try {
    return await toldInput(request, model, call, steps);
  } finally {
    admission.release();
  }
}

/** Undefined if other requests used up the limits meanwhile. */
async function admitted({ limits }: Steps, { caller, requestId }: GatewayCall): Promise<LimitDecision | undefined> {
  try {
    const admission = await limits.admit(caller, requestId);
    await admission.enter();
    return admission;
  } catch (error) {
    if (error instanceof GatewayError && error.reason === "ERROR_REASON_RATE_LIMITED") return undefined;
    throw error;
  }
}

function estimatedTarget(target: Target, refused: GatewayError | undefined, nowMs: number): EstimatedTarget {
  const { served, model, priority, weight } = target;
  const { errorReason, errorMessage, errorMetadata } = refused === undefined ? ADMITTED : refusedBy(refused);
  const health = shownHealth(target.health.state(nowMs));
  return { upstream: served.id, model, priority, weight, health, errorReason, errorMessage, errorMetadata };
}

interface Outcome {
  readonly plan: Plan;
  readonly heldNanos: bigint;
  readonly refusal: GatewayError | undefined;
}

/** Runs the same admission as a request, against limits and a ledger that take nothing. */
async function tryAdmission(
  byBytes: Plan,
  model: ServedModel,
  call: GatewayCall,
  { limits, ledger, routing }: Steps,
): Promise<Outcome> {
  const holder: Holder<{ readonly amountNanos: bigint }> = {
    ledger: { hold: (request) => ledger.tryHold(request) },
  };
  let plan = byBytes;
  try {
    requireUnfrozen(call.caller);
    plan = await reserve(plan, model, await limits.peek(call.caller, call.requestId));
    const opened = await openHold(plan, model, call, holder, routing.deadline(model, performance.now(), Infinity));
    return { plan: opened.plan, heldNanos: opened.hold.amountNanos, refusal: undefined };
  } catch (error) {
    // What passes by itself, such as a ledger that is away, says nothing of the request.
    if (!(error instanceof GatewayError) || error.http >= 500) throw error;
    return { plan, heldNanos: 0n, refusal: error };
  }
}

type Admittance = Pick<
  EstimateCostResponse,
  "admitted" | "errorReason" | "errorMessage" | "errorMetadata" | "httpStatus"
>;

const ADMITTED: Admittance = {
  admitted: true,
  errorReason: undefined,
  errorMessage: "",
  errorMetadata: {},
  httpStatus: 0,
};

function refusedBy({ reason, message, metadata, http }: GatewayError): Admittance {
  const told = { errorReason: ErrorReason[reason], errorMessage: message, errorMetadata: { ...metadata } };
  return { admitted: false, ...told, httpStatus: http };
}

/** The mean output tokens of the account's answers from this model; without any, the highest possible number. */
async function expectedOutput(
  kind: ModelKind,
  model: ServedModel,
  tokensMax: number,
  call: GatewayCall,
  steps: Steps,
): Promise<{ readonly tokens: number; readonly requestCount: number }> {
  // Vectors have no tokens, and what the account chatted about with the model says nothing of them.
  if (kind !== "chat" && kind !== "completion") return { tokens: 0, requestCount: 0 };
  const fromDay = dayOf(steps.nowMs() - HISTORY_DAYS * DAY_MS);
  const past = await steps.ledger.requests.outputOf(call.caller.accountId, model.id, fromDay);
  if (past.requestCount === 0) return { tokens: tokensMax, requestCount: 0 };
  const mean = Math.ceil(past.outputTokens / past.requestCount);
  return { tokens: tokensMax > 0 ? Math.min(mean, tokensMax) : mean, requestCount: past.requestCount };
}

function leastNanos(inputTokens: bigint, meters: Meter[], price: Price): bigint {
  const uncached = costNanos({ ...NO_USAGE, inputTokens, meters }, price);
  return lesser(uncached, costNanos({ ...NO_USAGE, cacheReadTokens: inputTokens, meters }, price));
}
