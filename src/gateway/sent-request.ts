/** What the record says of a request that goes to a target: what the gateway changed of it there. */
import type { ModelKind } from "../families/family.js";
import type { RequestRecord } from "../records/request-record.js";
import type { Target } from "../routing/model.js";
import { appliedParameters } from "../wire/request/parameters.js";
import type { ParsedRequest } from "./generate.js";

/** Called once the body for the target is written, so that the typed form can be read again. */
export function noteSent(
  record: RequestRecord,
  { parameters }: Target,
  kind: ModelKind,
  { request, generation }: ParsedRequest,
): void {
  if (parameters === undefined || kind !== "chat") {
    record.parameters = undefined;
    return;
  }
  const beside = generation.outputTokensMax;
  const saidOutputTokens = beside === undefined ? request.facts.outputTokensMax : Number(beside);
  record.parameters = appliedParameters(request.prompt(), saidOutputTokens, parameters);
}
