/** A request with other facts than its body has, since the gateway asks it otherwise than its client did. */
import type { RequestFacts } from "./request-facts.js";
import type { WireRequest } from "../wire.js";

export function withFacts(request: WireRequest, facts: RequestFacts): WireRequest {
  const { members, hosted, ownPrompt, without } = request;
  return {
    facts,
    source: request.source,
    ...(members === undefined ? {} : { members }),
    ...(hosted === undefined ? {} : { hosted }),
    leftOut: request.leftOut,
    held: request.held,
    isPlain: request.isPlain,
    prompt: () => request.prompt(),
    ...(ownPrompt === undefined ? {} : { ownPrompt: () => ownPrompt.call(request) }),
    checkForeign: (model, dropped) => request.checkForeign?.(model, dropped),
    ...(without === undefined ? {} : { without: (tools) => withFactsOf(without.call(request, tools), request, facts) }),
    long: request.long,
    outline: request.outline,
  };
}

/** What was read again has facts of its own; those that were changed stay so. */
function withFactsOf(read: WireRequest, before: WireRequest, changed: RequestFacts): WireRequest {
  const entries = Object.entries(changed).filter(([name, value]) => value !== Reflect.get(before.facts, name));
  return withFacts(read, { ...read.facts, ...Object.fromEntries(entries) });
}
