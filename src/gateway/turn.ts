/** One model's turn at a request: what it is sent, what that may cost at most, and the money that is held for it. */
import type { Generation } from "../api/index.js";
import type { ModelKind } from "../families/family.js";
import type { Caller } from "../keys/caller.js";
import { holdIdOf } from "../ledger/fallback-hold.js";
import type { Hold } from "../ledger/ledger.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import type { Plan } from "../pricing/hold-plan.js";
import type { Deadline } from "../routing/deadline.js";
import { withoutLackingAnywhere } from "../routing/left-out-tools.js";
import type { RequestMarks } from "../routing/cache-marking.js";
import type { ServedModel } from "../routing/model.js";
import { targetsFor } from "../routing/pick.js";
import { checkPreferences } from "../routing/preferred-targets.js";
import { parametrized } from "../routing/upstream-request.js";
import { outputLimitWith, type Parameters } from "../wire/request/parameters.js";
import type { WireRequest } from "../wire/wire.js";
import { openHold, planOf, reserve } from "./admission.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import { kindOf } from "./kind.js";
import type { Steps } from "./steps.js";

/** A request as one model is asked it. */
export interface ModelRequest {
  readonly model: ServedModel;
  readonly kind: ModelKind;
  readonly request: WireRequest;
  /** What stands beside the prompt. */
  readonly generation: Generation;
}

export interface Turn extends ModelRequest {
  readonly plan: Plan;
  readonly hold: Hold;
  /** Marks its prompt for caches; undefined where the gateway marks nothing for the model. */
  readonly marks: RequestMarks | undefined;
  /** The output limit of each candidate that the hold covers; undefined without one. */
  readonly coveredTokens: number | undefined;
}

/** What the turns of a request share. */
export interface TurnParts {
  readonly parsed: ParsedRequest;
  readonly call: GatewayCall;
  readonly admission: LimitDecision;
  readonly deadline: Deadline;
  readonly steps: Steps;
}

/** Throws PARAMETER_INVALID if the model does not support such a request, or the request excludes the model. */
export function modelRequest(model: ServedModel, { request: came, generation }: ParsedRequest): ModelRequest {
  const kind = kindOf(came, model);
  const { route } = came.facts;
  if (route !== undefined) checkPreferences(model, targetsFor(model, kind), route);
  const parameters = kind === "chat" ? model.parameters : undefined;
  const request = parametrized(withoutLackingAnywhere(came, model, kind), parameters);
  return { model, kind, request, generation: parameters === undefined ? generation : limited(generation, parameters) };
}

/** With the limit of the output that the parameters leave beside the prompt, where the caller set one there. */
function limited(generation: Generation, parameters: Parameters): Generation {
  const { outputTokensMax } = generation;
  if (outputTokensMax === undefined) return generation;
  const limit = outputLimitWith(parameters, Number(outputTokensMax));
  return { ...generation, outputTokensMax: limit === undefined ? undefined : BigInt(limit) };
}

/** True where the request is refused rather than sent without some of its parameters. */
export function isStrict({ facts }: WireRequest, { settings }: Caller): boolean {
  return settings.strict || facts.route?.requiresParameters === true;
}

/**
 * Takes the request into the limits of the model and holds its money: the fallback with this number, or 0 for the model
 * that the request names. Rejects as these do.
 */
export async function takeTurn(asked: ModelRequest, fallback: number, parts: TurnParts): Promise<Turn> {
  const { model, kind } = asked;
  const { call, admission, deadline, steps } = parts;
  const byBytes = planOf(asked, model, kind, call);
  const admitted = await reserve(byBytes, model, admission);
  const { hold, plan } = await openHold(admitted, model, callOf(call, fallback), steps, deadline);
  return {
    ...asked,
    marks: marksOf(asked, parts),
    plan,
    hold,
    coveredTokens: plan.coveredOutputTokens(hold.amountNanos),
  };
}

function marksOf(
  { request, kind, model }: ModelRequest,
  { call: { caller, record }, steps: { routing } }: TurnParts,
): RequestMarks | undefined {
  if (model.cacheMarksSeconds === undefined || caller.settings.cacheMarksOff) return undefined;
  return routing.cacheMarking.begin({ request, kind, model, accountId: caller.accountId, session: record });
}

function callOf(call: GatewayCall, fallback: number): GatewayCall {
  return fallback === 0 ? call : { ...call, requestId: holdIdOf(call.requestId, fallback), beforeHold: undefined };
}
