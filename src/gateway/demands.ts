/** What a request demands of its target: what its account and its key demand, and what it adds to that. */
import { REQUIRE_HEADER } from "../api/request-headers.js";
import { invalid } from "../api/check.js";
import { type Demands, demandsOf, demandsProblem, tightened } from "../base/demands.js";
import type { TargetAsker } from "../routing/eligible-targets.js";
import type { WireRequest } from "../wire/wire.js";
import type { GatewayCall } from "./gateway.js";

const HEADER_CHARACTERS_MAX = 2_048;
const RULE = "must be such as region=eu, retention=none, trains=no";
const NO_METADATA = {};

/** Whose request it is, for the filters of targets. Throws PARAMETER_INVALID for a header that cannot be read. */
export function targetAsker({ facts }: WireRequest, { caller, metadata = NO_METADATA }: GatewayCall): TargetAsker {
  const header = metadata[REQUIRE_HEADER];
  const named = header === undefined ? undefined : demandsIn(header);
  const demands = tightened(tightened(caller.demands, facts.route?.demands), named);
  const { accountId, keyId, settings } = caller;
  return { accountId, keyId, labels: settings.metadata, headers: metadata, demands };
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
