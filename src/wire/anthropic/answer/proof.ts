/**
 * Proofs of thoughts on their way between upstreams and clients.
 *
 * The wire's clients send a thought back exactly as it came, so its proof can carry what another upstream must have
 * back. Anthropic's own proofs are base64; ours have a dot, which base64 has not, so each is known for what it is.
 */

import { anthropicsOwn } from "../../claude/answer/proof.js";

const MARK = "tollgate.";
/** So much of a proof says whether it is ours. */
export const MARK_CHARACTERS = MARK.length;
const THOUGHT = `${MARK}thought`;
const PROOF = `${MARK}proof.`;
const REDACTED = `${MARK}redacted.`;
const CALL = `${MARK}call.`;

/** What a proof of the wire says. */
export type Proof =
  | { readonly kind: "thought"; readonly signature: string | undefined }
  /** State of the call that follows the thought. */
  | { readonly kind: "call"; readonly signature: string };

export function decodeProof(wire: string): Proof {
  if (wire === "" || wire === THOUGHT) return { kind: "thought", signature: undefined };
  if (wire.startsWith(PROOF)) return { kind: "thought", signature: unwrapped(wire, PROOF) };
  if (wire.startsWith(CALL)) return { kind: "call", signature: unwrapped(wire, CALL) };
  return { kind: "thought", signature: wire };
}

/** The proof of a thought towards a client. It is never empty: a client may take a thought without one for cut. */
export function encodeProof(signature: string | undefined): string {
  if (signature === undefined || signature === "") return THOUGHT;
  return anthropicsOwn(signature) ?? PROOF + Buffer.from(signature).toString("base64url");
}

/** The data of a thought that only its upstream can read, towards a client. */
export function encodeRedacted(data: string): string {
  return anthropicsOwn(data) ?? REDACTED + Buffer.from(data).toString("base64url");
}

export function decodeRedacted(wire: string): string {
  return wire.startsWith(REDACTED) ? unwrapped(wire, REDACTED) : wire;
}

/** The proof that carries a call's state towards a client. */
export function encodeCallState(signature: string): string {
  return CALL + Buffer.from(signature).toString("base64url");
}

/** True for a proof or data of the wire that we made: an upstream would refuse it. */
export function isOurs(wire: string): boolean {
  return wire.startsWith(MARK);
}

function unwrapped(wire: string, mark: string): string {
  return Buffer.from(wire.slice(mark.length), "base64url").toString();
}
