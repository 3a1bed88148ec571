/** What `schemata.mjs` offers, for TypeScript. */
import type { Change } from "./operators.mjs";

export const IS_MUTANT: string;

export function schemataOf(
  text: string,
  changes: readonly (Change & { readonly id: number })[],
  importPath: string,
): string;
