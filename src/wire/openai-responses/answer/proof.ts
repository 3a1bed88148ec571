/**
 * Proofs of thoughts on their way between upstreams and clients.
 *
 * The wire's clients send a reasoning item back exactly as it came, so its encrypted content can carry what another
 * upstream must have back. OpenAI's own is base64url; ours have a dot, which that has not. In the typed form OpenAI's
 * bears a mark, so that no other upstream takes it for its own, and the id of its item, which it is bound to.
 */

const MARK = "tollgate.";
const THOUGHT = `${MARK}thought`;
const PROOF = `${MARK}proof.`;
const REDACTED = `${MARK}redacted.`;
const CALL = `${MARK}call.`;
/** What a compaction item of ours begins with. */
export const OUR_SUMMARY = `${MARK}summary.`;

/** The ids of reasoning items that we made; OpenAI's are hexadecimal behind the underscore. */
export const OUR_REASONING = "rs_tg";

const OPENAIS = "openai:";

/** What the encrypted content of a reasoning item says. */
export type Proof =
  | { readonly kind: "thought"; readonly signature: string | undefined }
  /** A thought that only its upstream can read. */
  | { readonly kind: "redacted"; readonly data: string }
  /** State of the call that follows the item. */
  | { readonly kind: "call"; readonly signature: string };

export function decodeProof(id: string, content: string): Proof {
  if (content === "" || content === THOUGHT) return { kind: "thought", signature: undefined };
  if (content.startsWith(PROOF)) return { kind: "thought", signature: unwrapped(content, PROOF) };
  if (content.startsWith(REDACTED)) return { kind: "redacted", data: unwrapped(content, REDACTED) };
  if (content.startsWith(CALL)) return { kind: "call", signature: unwrapped(content, CALL) };
  return { kind: "thought", signature: `${OPENAIS}${id}:${content}` };
}

/** A reasoning item's id and encrypted content, where the proof is OpenAI's own. */
export interface OwnProof {
  readonly id: string;
  readonly content: string;
}

export function openAisOwn(signature: string | undefined): OwnProof | undefined {
  if (signature?.startsWith(OPENAIS) !== true) return undefined;
  const end = signature.indexOf(":", OPENAIS.length);
  if (end === -1) return undefined;
  return { id: signature.slice(OPENAIS.length, end), content: signature.slice(end + 1) };
}

/** The encrypted content of a thought towards a client. It is never empty: without it the item would not come back. */
export function encodeProof(signature: string | undefined): string {
  return signature === undefined ? THOUGHT : PROOF + Buffer.from(signature).toString("base64url");
}

export function encodeRedacted(data: string): string {
  return REDACTED + Buffer.from(data).toString("base64url");
}

export function encodeCallState(signature: string): string {
  return CALL + Buffer.from(signature).toString("base64url");
}

/** True for a reasoning item that we made: OpenAI would refuse it. */
export function isOurs(id: string, content: string): boolean {
  return content.startsWith(MARK) || id.startsWith(OUR_REASONING);
}

function unwrapped(content: string, mark: string): string {
  return Buffer.from(content.slice(mark.length), "base64url").toString();
}
