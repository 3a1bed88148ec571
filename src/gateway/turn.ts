/** One model's turn at a request: what it is sent, what that may cost at most, and the money that is held for it. */
import type { ModelKind } from "../families/family.js";
import type { Caller } from "../keys/caller.js";
import { holdIdOf } from "../ledger/fallback-hold.js";
import type { Hold } from "../ledger/ledger.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import type { Plan } from "../pricing/hold-plan.js";
import type { Deadline } from "../routing/deadline.js";
import { withoutLackingAnywhere } from "../routing/left-out-tools.js";
import type { ServedModel } from "../routing/model.js";
import { targetsFor } from "../routing/pick.js";
import { checkPreferences } from "../routing/preferred-targets.js";
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
}

export interface Turn extends ModelRequest {
  readonly plan: Plan;
  readonly hold: Hold;
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
export function modelRequest(model: ServedModel, { request }: ParsedRequest): ModelRequest {
  const kind = kindOf(request, model);
  const { route } = request.facts;
  if (route !== undefined) checkPreferences(model, targetsFor(model, kind), route);
  return { model, kind, request: withoutLackingAnywhere(request, model, kind) };
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
  const { model, kind, request } = asked;
  const { parsed, call, admission, deadline, steps } = parts;
  const byBytes = planOf({ request, generation: parsed.generation }, model, kind, call);
  const admitted = await reserve(byBytes, model, admission);
  const { hold, plan } = await openHold(admitted, model, callOf(call, fallback), steps, deadline);
  return { model, kind, request, plan, hold, coveredTokens: plan.coveredOutputTokens(hold.amountNanos) };
}

function callOf(call: GatewayCall, fallback: number): GatewayCall {
  return fallback === 0 ? call : { ...call, requestId: holdIdOf(call.requestId, fallback), beforeHold: undefined };
}
