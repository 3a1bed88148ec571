/** The most bytes of a request's body, which every edge and the gateway itself keep to. */
import { GatewayError } from "../errors.js";

export const BODY_BYTES_MAX = 32 * 1024 * 1024;

/** The refusal of a body that is too large. */
export function bodyTooLarge(limitBytes = BODY_BYTES_MAX, cause?: Error): GatewayError {
  const options = cause === undefined ? undefined : { cause };
  return new GatewayError("ERROR_REASON_BODY_TOO_LARGE", { limit_bytes: String(limitBytes) }, options);
}
