/** The code of a refusal in the envelopes that have one: a word for programs. */
import type { GatewayError, ReasonName } from "../../base/errors.js";

/** Words that clients know from elsewhere. Any other refusal has the word of its own reason. */
const KNOWN_CODES: ReadonlyMap<ReasonName, string> = new Map<ReasonName, string>([
  ["ERROR_REASON_BODY_INVALID", "invalid_body"],
  ["ERROR_REASON_PARAMETER_INVALID", "invalid_value"],
  ["ERROR_REASON_PARAMETER_MISSING", "missing_required_parameter"],
  ["ERROR_REASON_PARAMETER_UNSUPPORTED", "unsupported_parameter"],
  ["ERROR_REASON_UPSTREAM_REJECTED", "invalid_value"],
  ["ERROR_REASON_CONTEXT_TOO_LONG", "context_length_exceeded"],
  ["ERROR_REASON_BODY_TOO_LARGE", "request_too_large"],
  ["ERROR_REASON_KEY_MISSING", "invalid_api_key"],
  ["ERROR_REASON_KEY_INVALID", "invalid_api_key"],
  ["ERROR_REASON_KEY_EXPIRED", "invalid_api_key"],
  ["ERROR_REASON_KEY_REVOKED", "invalid_api_key"],
  ["ERROR_REASON_MODEL_UNKNOWN", "model_not_found"],
  ["ERROR_REASON_PATH_UNKNOWN", "unknown_url"],
  ["ERROR_REASON_CONNECTION_TOO_OLD", "websocket_connection_limit_reached"],
  ["ERROR_REASON_RESOURCE_UNKNOWN", "not_found"],
  ["ERROR_REASON_RATE_LIMITED", "rate_limit_exceeded"],
  ["ERROR_REASON_UPSTREAM_RATE_LIMITED", "rate_limit_exceeded"],
  ["ERROR_REASON_BALANCE_TOO_LOW", "insufficient_balance"],
  ["ERROR_REASON_INTERNAL", "internal_error"],
  ["ERROR_REASON_UPSTREAM_FAILED", "upstream_error"],
]);

/** An upstream's own code where it gave one. */
export function codeOf({ reason, reasonWord, metadata }: GatewayError): string {
  return metadata["code"] ?? KNOWN_CODES.get(reason) ?? reasonWord.toLowerCase();
}
