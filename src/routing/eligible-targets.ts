/** Which targets of a model may take a request, before one of them is picked: by match, demands and capabilities. */
import { type Demands, demandsText, satisfies } from "../base/demands.js";
import { GatewayError } from "../base/errors.js";
import type { CallMetadata } from "../api/channel.js";
import type { ModelKind } from "../families/family.js";
import type { WireRequest } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";

/** Whose request it is, as far as targets ask for that. */
export interface TargetAsker {
  readonly accountId: string;
  readonly keyId: string;
  /** The labels of the key. */
  readonly labels: Readonly<Record<string, string>>;
  readonly headers: CallMetadata;
  readonly demands: Demands | undefined;
}

/**
 * The model with the targets that this request may go to; the model itself where that is all of them. Throws
 * MODEL_NOT_ALLOWED where no target is for such requests, and NO_COMPLIANT_TARGET where none satisfies the demands.
 */
export function eligibleModel(model: ServedModel, asker: TargetAsker): ServedModel {
  const { demands } = asker;
  const matching = model.targets.filter((target) => matches(target, asker));
  if (matching.length === 0)
    throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: model.alias ?? model.id });
  const compliant = demands === undefined ? matching : matching.filter(({ labels }) => satisfies(labels, demands));
  if (demands !== undefined && compliant.length === 0)
    throw new GatewayError("ERROR_REASON_NO_COMPLIANT_TARGET", { model: model.id, demands: demandsText(demands) });
  return withTargets(model, compliant);
}

/** True where some of its targets are kept for some requests. */
export function hasMatch({ targets }: ServedModel): boolean {
  return targets.some(({ match }) => match !== undefined);
}

/** The same model where these are all of its targets. */
export function withTargets(model: ServedModel, targets: readonly Target[]): ServedModel {
  const isSame = targets.length === model.targets.length && targets.every((one, at) => one === model.targets[at]);
  return isSame ? model : { ...model, targets };
}

function matches({ match }: Target, { accountId, keyId, labels, headers }: TargetAsker): boolean {
  if (match === undefined) return true;
  const { account = accountId, key = keyId, label, header } = match;
  if (account !== accountId || key !== keyId) return false;
  if (label !== undefined && labels[label[0]] !== label[1]) return false;
  return header === undefined || headers[header[0]] === header[1];
}

/** What a target can: undefined where nobody knows. */
type Ability = (target: Target) => boolean | undefined;

/**
 * The targets that can do all that the request needs, as far as that is known; else those of which it is not known. All
 * of them where none can: their refusal names what they lack.
 */
export function ableTargets(
  targets: readonly Target[],
  request: WireRequest,
  kind: ModelKind,
  outputTokensMax: number | undefined,
): readonly Target[] {
  if (targets.length < 2 || (kind !== "chat" && kind !== "completion")) return targets;
  const needs = needsOf(request, targets, outputTokensMax);
  if (needs.length === 0) return targets;
  const possible = targets.filter((target) => needs.every((can) => can(target) !== false));
  if (possible.length === 0) return targets;
  const known = possible.filter((target) => needs.every((can) => can(target) === true));
  return known.length > 0 ? known : possible;
}

interface Need {
  readonly can: Ability;
  readonly isOf: (request: WireRequest, targets: readonly Target[]) => boolean;
}

const schemas: Ability = ({ facts }) => facts.schemas;
const reasons: Ability = ({ facts: { thinking } }) => (thinking === undefined ? undefined : thinking !== "none");

/** The typed form of a request is made only where it decides something. */
const NEEDS: readonly Need[] = [
  { can: ({ facts }) => facts.images, isOf: ({ facts }) => facts.imageCount > 0 },
  { can: ({ facts }) => facts.files, isOf: hasFiles },
  { can: ({ facts }) => facts.tools, isOf: ({ facts }) => (facts.toolCount ?? 0) > 0 },
  { can: schemas, isOf: (request, targets) => differ(targets, schemas) && asksSchema(request) },
  { can: reasons, isOf: (request, targets) => differ(targets, reasons) && asksReasoning(request) },
];

function needsOf(request: WireRequest, targets: readonly Target[], outputTokensMax = 0): readonly Ability[] {
  const needs = NEEDS.filter(({ isOf }) => isOf(request, targets)).map(({ can }) => can);
  const isBounded = outputTokensMax > 0 && targets.some(({ toldFacts }) => toldFacts?.outputTokensMax !== undefined);
  return isBounded ? [...needs, ({ toldFacts }) => atLeast(toldFacts?.outputTokensMax, outputTokensMax)] : needs;
}

/** A limit that is not told is that of the model, within which every request is. */
function atLeast(limit: number | undefined, tokens: number): boolean {
  return limit === undefined || limit >= tokens;
}

function differ(targets: readonly Target[], can: Ability): boolean {
  const [first] = targets;
  return first !== undefined && targets.some((target) => can(target) !== can(first));
}

function asksSchema(request: WireRequest): boolean {
  return promptOf(request)?.outputFormat?.kind?.$case === "jsonSchema";
}

function asksReasoning(request: WireRequest): boolean {
  const { effort, budgetTokens } = promptOf(request)?.reasoning ?? {};
  return (effort !== undefined && effort !== "none") || budgetTokens !== undefined;
}

/** Undefined where the typed form cannot hold the request: then its upstream judges it. */
function promptOf(request: WireRequest) {
  try {
    return request.prompt();
  } catch {
    return undefined;
  }
}

/** The context of a target; 0 where nobody knows it. */
export function contextOf({ toldFacts }: Target, ofModel: number): number {
  return toldFacts?.contextTokens ?? ofModel;
}

/** True where it sends files itself: what tools of the upstream may find counts as one more. */
export function hasFiles({ facts, hosted }: Pick<WireRequest, "facts" | "hosted">): boolean {
  return facts.fileCount > (hosted !== undefined && hosted.length > 0 ? 1 : 0);
}
