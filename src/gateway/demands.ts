/** Which targets may take a request: what its account and its key demand, and what it adds to that. */
import type { CallMetadata } from "../api/channel.js";
import { REQUIRE_HEADER } from "../api/request-headers.js";
import { invalid } from "../api/check.js";
import { type Demands, demandsOf, demandsProblem, tightened } from "../base/demands.js";
import { eligibleModel, hasMatch } from "../routing/eligible-targets.js";
import type { ServedModel } from "../routing/model.js";
import type { WireRequest } from "../wire/wire.js";
import type { GatewayCall } from "./gateway.js";

const HEADER_CHARACTERS_MAX = 2_048;
const RULE = "must be such as region=eu, retention=none, trains=no";
const NO_METADATA: CallMetadata = {};

/**
 * The model with the targets that may take the request. Throws PARAMETER_INVALID for a header that cannot be read, and
 * as `eligibleModel` does.
 */
export function eligibleFor(model: ServedModel, { facts }: WireRequest, call: GatewayCall): ServedModel {
  const { caller, metadata = NO_METADATA } = call;
  const header = metadata[REQUIRE_HEADER];
  const named = header === undefined ? undefined : demandsIn(header);
  const demands = tightened(tightened(caller.demands, facts.route?.demands), named);
  if (demands === undefined && !hasMatch(model)) return model;
  const { accountId, keyId, settings } = caller;
  return eligibleModel(model, { accountId, keyId, labels: settings.metadata, headers: metadata, demands });
}

/** Of several regions in the header each may be the target's. */
function demandsIn(header: string): Demands | undefined {
  const written = { region: [] as string[], retention: "", trains: "" };
  const parts = header.length > HEADER_CHARACTERS_MAX ? [""] : header.split(",");
  for (const part of parts) {
    const [, name = "", value = ""] = /^\s*([a-z]+)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
    if (name === "region") written.region.push(value);
    else if ((name === "retention" || name === "trains") && written[name] === "") written[name] = value;
    else throw invalid(REQUIRE_HEADER, RULE);
  }
  if (demandsProblem(written) !== undefined) throw invalid(REQUIRE_HEADER, RULE);
  return demandsOf(written);
}
