/** The checks of parameters that several parts share, and their refusals. */
import { GatewayError } from "../base/errors.js";

/** The refusal of a parameter's value. `problem` goes on from the parameter's name. */
export function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param, problem });
}

/** The value of a parameter that must not be empty. */
export function required(param: string, value: string): string {
  if (value === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
  return value;
}

/** The refusal of what does not exist, or is another account's: the two are told the same. */
export function unknown(kind: string, id: string): GatewayError {
  return new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind, id });
}

/** The refusal of a change of what was changed since its caller read it. */
export function stale(kind: string, id: string): GatewayError {
  return new GatewayError("ERROR_REASON_ETAG_STALE", { kind, id });
}

/** Throws where a caller sent the etag that it read, and there is another now. An empty one takes whatever is there. */
export function requireEtag(sent: string, present: string, kind: string, id: string): void {
  if (sent !== "" && sent !== present) throw stale(kind, id);
}
