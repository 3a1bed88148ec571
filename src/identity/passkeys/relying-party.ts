/** As whom the gateway asks authenticators for passkeys. Its own settings say that, and nothing that a client sends. */
import { isIP } from "node:net";

export interface RelyingParty {
  /** A host name. Authenticators give a passkey to pages of this host alone. */
  readonly id: string;
  /** The origin whose pages may ask, such as `https://llm.example.com`. */
  readonly origin: string;
}

/**
 * Undefined where browsers have no passkeys: at an IP address, and without HTTPS anywhere but on `localhost`
 * (Web Authentication, section 5.1.3).
 */
export function relyingPartyAt(address: string | undefined): RelyingParty | undefined {
  if (address === undefined) return undefined;
  const { protocol, hostname, origin } = new URL(address);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  const isAddress = isIP(hostname) !== 0 || hostname.startsWith("[");
  return isAddress || (protocol !== "https:" && !isLocal) ? undefined : { id: hostname, origin };
}
