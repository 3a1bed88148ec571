/** Proofs of thoughts, as Anthropic makes them. */

const ANTHROPICS = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The proof where it may be Anthropic's own, which alone goes back to Anthropic. */
export function anthropicsOwn(signature: string | undefined): string | undefined {
  return signature !== undefined && ANTHROPICS.test(signature) ? signature : undefined;
}
