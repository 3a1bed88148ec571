/** Requests that a token proves, which its source renews. */
import type { RenewedCredential } from "./renewed-credential.js";
import type { Headers, Prover } from "./signed.js";

/** The header of a token. One object for each token, by which it is known again. */
export function bearerHeaders(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

/** A token that the upstream refuses with 401 is replaced, and the request is sent once more. */
export function createBearerProver(token: RenewedCredential<Headers>): Prover {
  return {
    sign: () => token.value(),
    renew: ({ status }, proof) => (status === 401 ? token.replace(proof) : undefined),
  };
}
