/** Tools that an upstream would run, and that are left out where the model's settings drop what would be refused. */
import { type Endpoint, endpointFor, type ModelKind } from "../families/family.js";
import { type Permits, toolsAskedBeside } from "../wire/request/member-gate.js";
import type { WireRequest } from "../wire/wire.js";
import type { ServedModel } from "./model.js";
import { TargetPermits, termsOf } from "./permits.js";
import { targetsFor } from "./pick.js";

type Tool = NonNullable<WireRequest["hosted"]>[number];

/** The request as one target is asked it: without what would be refused there. */
export function withoutLacking(request: WireRequest, endpoint: Endpoint, permits: Permits): WireRequest {
  if (permits.leavesOut === undefined) return request;
  return leftOut(request, (tool) => isLacking(tool, request, endpoint, permits), [endpoint]);
}

/**
 * The request as the model is asked it: without what none of its targets takes. What is held and charged for it, and
 * who reads its answer, then know of nothing else.
 */
export function withoutLackingAnywhere(request: WireRequest, model: ServedModel, kind: ModelKind): WireRequest {
  if (model.hostedTools !== "drop" || request.without === undefined) return request;
  const places = targetsFor(model, kind).map((target) => ({
    endpoint: endpointFor(target.served.family, request, kind),
    permits: new TargetPermits(termsOf(target, model, [])),
  }));
  if (places.length === 0) return request;
  const isLackingAnywhere = (tool: Tool): boolean =>
    places.every(({ endpoint, permits }) => isLacking(tool, request, endpoint, permits));
  return leftOut(
    request,
    isLackingAnywhere,
    places.map(({ endpoint }) => endpoint),
  );
}

function leftOut(request: WireRequest, isLackingThere: (tool: Tool) => boolean, to: readonly Endpoint[]): WireRequest {
  if (request.without === undefined) return request;
  const lacking = [...(request.hosted ?? []), ...besidePrompt(request, to)].filter(isLackingThere);
  return lacking.length === 0 ? request : request.without(lacking);
}

function isLacking(tool: Tool, { source }: WireRequest, { wire }: Endpoint, permits: Permits): boolean {
  const isForeign = (tool.wire ?? source?.wire ?? wire.name) !== wire.name;
  // What a typed request has for another wire stays behind by itself.
  if (isForeign && source === undefined) return false;
  return permits.leavesOut?.(tool, isForeign) === true;
}

/** What the fields without a typed home ask for: of a client's own body they are members like others. */
function besidePrompt(request: WireRequest, to: readonly Endpoint[]): readonly Tool[] {
  if (request.source !== undefined || request.isPlain === true) return [];
  const { extra } = request.prompt();
  const own = to.find(({ wire }) => wire.name === extra?.wire);
  if (extra === undefined || own === undefined) return [];
  const tools = toolsAskedBeside(extra.json, own.members ?? own.wire.members);
  return tools.map((tool) => Object.assign({ wire: extra.wire }, tool));
}
