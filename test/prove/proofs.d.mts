/** What the tests use of `proofs.mjs`, for TypeScript. */

export interface Proof {
  readonly part: string;
  readonly commit: string;
  readonly tree: string;
  readonly dirty: boolean;
  readonly verdict: "passed" | "failed" | "not run" | "unclear";
  readonly seconds: number;
  readonly at: string;
  readonly command: string;
  readonly why?: string;
}

export const PROOFS: string;
export function readProofs(root: string): Map<string, Proof>;
export function isTouched(touches: readonly string[], path: string): boolean;
