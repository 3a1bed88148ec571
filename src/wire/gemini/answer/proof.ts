/**
 * Proofs of thoughts on their way between upstreams and clients.
 *
 * In the typed form a proof of Google's bears a mark, so that no other upstream takes it for its own. Towards a client
 * of this wire it is the other way round: there a proof of somebody else's is wrapped, in base64 as the wire has it.
 */

const GOOGLES = "gemini:";
/** Base64 of `tollgate:`, whose nine bytes are twelve whole characters. */
const WRAPPED = "dG9sbGdhdGU6";
/** Base64 of `tollgate!`: a thought that only its upstream can read. */
const REDACTED = "dG9sbGdhdGUh";

/** What Google documents for calls whose signature is lost. */
export const SIGNATURE_SENTINEL = "skip_thought_signature_validator";

/** A proof as the typed form has it. */
export type Proof =
  | { readonly kind: "signature"; readonly signature: string }
  | { readonly kind: "redacted"; readonly data: string };

export function decodeProof(wire: string): Proof {
  if (wire.startsWith(WRAPPED)) return { kind: "signature", signature: unwrapped(wire, WRAPPED) };
  if (wire.startsWith(REDACTED)) return { kind: "redacted", data: unwrapped(wire, REDACTED) };
  return { kind: "signature", signature: GOOGLES + wire };
}

/** A proof for whoever speaks this wire: an upstream takes only Google's. */
export function encodeProof(signature: string): string {
  return googlesOwn(signature) ?? WRAPPED + Buffer.from(signature).toString("base64");
}

export function encodeRedacted(data: string): string {
  return REDACTED + Buffer.from(data).toString("base64");
}

/** The proof without its mark; undefined where it is not Google's. */
export function googlesOwn(signature: string): string | undefined {
  return signature.startsWith(GOOGLES) ? signature.slice(GOOGLES.length) : undefined;
}

function unwrapped(wire: string, mark: string): string {
  return Buffer.from(wire.slice(mark.length), "base64").toString();
}
