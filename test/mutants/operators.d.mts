/** What `operators.mjs` offers, for TypeScript. */

export type Kind = "expression" | "statement" | "element" | "property";

export interface Change {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly operator: string;
  readonly kind: Kind;
}

export function changesOf(path: string, text: string): Change[];
