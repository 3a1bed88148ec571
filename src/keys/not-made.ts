/** Why a key was not made. */
import { invalid } from "../api/check.js";
import { GatewayError } from "../base/errors.js";
import { type KeyRow, KEYS_MAX } from "../store/store.js";

/** `found` is the key that has or had the secret; without one the account has no room. */
export function notMade({ hint }: KeyRow, found: KeyRow | undefined): GatewayError {
  if (found !== undefined) return new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "key", id: hint });
  return invalid("account_id", `has ${KEYS_MAX} keys, which is the most: revoke one of them first`);
}
