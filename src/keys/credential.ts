/** Where a call carries its secret. */
import type { CallMetadata } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import { hintOf } from "./secret.js";

/** Headers that carry the bare secret, in the order in which they are looked at. */
const BARE_HEADERS = ["x-api-key", "x-goog-api-key"] as const;
const CREDENTIAL_LENGTH_MAX = 512;
const SCHEME = "bearer ";

/**
 * The secret of a call; undefined where it carries none. `authorization` counts first where it is a Bearer token, so
 * that another scheme there, such as a proxy's, hides no `x-api-key`. Throws KEY_INVALID where the secret cannot be one
 * at all.
 */
export function credentialOf(metadata: CallMetadata): string | undefined {
  const bearer = secretOf(bearerOf(metadata["authorization"]));
  if (bearer !== undefined) return bearer;
  for (const name of BARE_HEADERS) {
    const secret = secretOf(metadata[name]);
    if (secret !== undefined) return secret;
  }
  return undefined;
}

function bearerOf(header: string | undefined): string | undefined {
  const isBearer = header !== undefined && header.slice(0, SCHEME.length).toLowerCase() === SCHEME;
  return isBearer ? header.slice(SCHEME.length) : undefined;
}

/** An SDK without a key sends an empty one: that counts as none. */
function secretOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (text.length > CREDENTIAL_LENGTH_MAX || /[^\x20-\x7e]/.test(text))
    throw new GatewayError("ERROR_REASON_KEY_INVALID", { key: hintOf(text) });
  const secret = text.trim();
  return secret === "" ? undefined : secret;
}
