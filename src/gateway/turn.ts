/** One model's turn at a request: what it is sent, what that may cost at most, and the money that is held for it. */
import type { Generation } from "../api/index.js";
import type { ModelKind } from "../families/family.js";
import type { Caller } from "../keys/caller.js";
import { holdIdOf } from "../ledger/fallback-hold.js";
import type { Hold } from "../ledger/ledger.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import type { QuotaGrant } from "../limits/quotas.js";
import { outputLimit, type Plan } from "../pricing/hold-plan.js";
import type { Deadline } from "../routing/deadline.js";
import { withoutLackingAnywhere } from "../routing/left-out-tools.js";
import type { RequestMarks } from "../routing/cache-marking.js";
import type { ServedModel, Target } from "../routing/model.js";
import { sortNamed } from "../routing/model-names.js";
import { targetsFor } from "../routing/pick.js";
import { ableTargets, withTargets } from "../routing/eligible-targets.js";
import { checkPreferences, preferredTargets, sortedTargets } from "../routing/preferred-targets.js";
import { parametrized } from "../routing/upstream-request.js";
import { outputLimitWith, type Parameters } from "../wire/request/parameters.js";
import type { WireRequest } from "../wire/wire.js";
import { openHold, planOf, reserve } from "./admission.js";
import { eligibleFor } from "./demands.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import { kindOf } from "./kind.js";
import { countInQuotas, openCounted } from "./quota-hold.js";
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
  /** How its quotas count it; undefined where its caller has none for the model. */
  readonly quota: QuotaGrant | undefined;
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

/**
 * The request, and the model with the targets that may take it: nothing later looks at another target. Throws
 * NO_COMPLIANT_TARGET or MODEL_NOT_ALLOWED, and PARAMETER_INVALID if the model does not support such a request, or the
 * request excludes the model. `nowMs` is of the clock of routing.
 */
export function modelRequest(
  asked: ServedModel,
  { request: came, generation: said }: Pick<ParsedRequest, "request" | "generation">,
  call: GatewayCall,
  nowMs: number,
): ModelRequest {
  const eligible = eligibleFor(asked, came, call);
  const kind = kindOf(came, eligible);
  const { route } = came.facts;
  if (route !== undefined) checkPreferences(eligible, targetsFor(eligible, kind), route);
  const preferred = sorted(preferredTargets(targetsFor(eligible, kind), route), came, asked, nowMs);
  const parameters = kind === "chat" ? eligible.parameters : undefined;
  const generation = parameters === undefined ? said : limited(said, parameters);
  const outputTokens = outputLimit(askedOutput({ request: came, generation }), eligible);
  const model = withTargets(eligible, ableTargets(preferred, came, kind, outputTokens));
  const request = parametrized(withoutLackingAnywhere(came, model, kind), parameters);
  return { model, kind, request, generation };
}

/** With the limit of the output that the parameters leave beside the prompt, where the caller set one there. */
function limited(generation: Generation, parameters: Parameters): Generation {
  const { outputTokensMax } = generation;
  if (outputTokensMax === undefined) return generation;
  const limit = outputLimitWith(parameters, Number(outputTokensMax));
  return { ...generation, outputTokensMax: limit === undefined ? undefined : BigInt(limit) };
}

/** An order that the request says itself is over a sort. */
function sorted(
  targets: readonly Target[],
  request: WireRequest,
  model: ServedModel,
  nowMs: number,
): readonly Target[] {
  const { route, model: name } = request.facts;
  const key = route?.sort ?? sortNamed(name, model);
  return key === undefined || route?.order !== undefined ? targets : sortedTargets(targets, { key, request, nowMs });
}

/** The output limit that the client asks for; undefined if it asks for none. */
export function askedOutput({
  request,
  generation,
}: Pick<ParsedRequest, "request" | "generation">): number | undefined {
  const { outputTokensMax } = generation;
  return outputTokensMax === undefined ? request.facts.outputTokensMax : Number(outputTokensMax);
}

/** True where the request is refused rather than sent without some of its parameters. */
export function isStrict({ facts }: WireRequest, { settings }: Caller): boolean {
  return settings.strict || facts.route?.requiresParameters === true;
}

/**
 * Takes the request into the limits of the model and into its quotas, and holds its money: the fallback with this
 * number, or 0 for the model that the request names. Rejects as these do.
 */
export async function takeTurn(asked: ModelRequest, fallback: number, parts: TurnParts): Promise<Turn> {
  const { model, kind } = asked;
  const { call, admission, deadline, steps } = parts;
  const byBytes = planOf(asked, model, kind, call);
  const admitted = await reserve(byBytes, model, admission);
  const held = callOf(call, fallback);
  const counting = countInQuotas(admitted, model, held, steps.quotas);
  const counted = counting === undefined ? undefined : await counting;
  const opening =
    counted === undefined
      ? openHold(admitted, model, held, steps, deadline)
      : openCounted(counted, model, held, steps.ledger, deadline);
  const { hold, plan } = await opening;
  return {
    ...asked,
    marks: marksOf(asked, parts),
    plan,
    hold,
    quota: counted?.quota,
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
